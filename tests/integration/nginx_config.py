# SPDX-License-Identifier: Apache-2.0
"""The configuration of an nginx that a test starts in the foreground."""

TEMPLATE = """
daemon off; worker_processes {workers}; pid {folder}/nginx.pid; error_log /dev/null;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; {locations} }}
}}
"""


def proxy(folder, port, backends, workers):
    """Of a proxy on loopback. `backends`: {path: port of loopback}; `folder` is its own."""
    locations = " ".join(f"location {path} {{ proxy_pass http://127.0.0.1:{back}; }}"
                         for path, back in backends.items())
    return TEMPLATE.format(folder=folder, port=port, locations=locations, workers=workers)
