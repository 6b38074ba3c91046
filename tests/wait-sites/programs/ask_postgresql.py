# SPDX-License-Identifier: Apache-2.0
"""ask_postgresql.py PORT: asks again and again what takes the server 0.3 s."""

import sys

import psycopg2

connection = psycopg2.connect(host="127.0.0.1", port=sys.argv[1], user="postgres", dbname="postgres")
while True:
    connection.cursor().execute("select pg_sleep(0.3)")
