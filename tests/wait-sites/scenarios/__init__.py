# SPDX-License-Identifier: Apache-2.0
"""Importing these declares the scenarios."""

from scenarios import (  # noqa: F401
    apart, caches, commands, daemons, debian13, kernel, languages, libraries, mariadb, php, postgresql, python, tls,
    web)
