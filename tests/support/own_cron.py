# SPDX-License-Identifier: Apache-2.0
"""A cron that has nothing in common with the host's."""

# For `bash -c` below `unshare --mount`, with the folder in which `crontab` is: in a mount namespace of its own cron has
# no other tables than this one, and no other's lock.
CRON = """
mount --bind {folder}/crontab /etc/crontab
mount -t tmpfs tmpfs /etc/cron.d
mount -t tmpfs tmpfs /var/spool/cron
mkdir -p /var/spool/cron/crontabs
mount -t tmpfs tmpfs /run
exec cron -f
"""
