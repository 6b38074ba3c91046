# SPDX-License-Identifier: Apache-2.0
"""Importing these declares the scenarios."""

from scenarios import (  # noqa: F401
    caches, commands, daemons, kernel, languages, mariadb, php, postgresql, python, tls, web)
