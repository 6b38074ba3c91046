# SPDX-License-Identifier: Apache-2.0
"""Servers and proxies of HTTP, idle and with an upstream that takes its time."""

from scenario import scenario

NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log /dev/null; user root;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; location / {{ {what}; }} }}
}}
"""
HAPROXY = """
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
frontend front
  bind 127.0.0.1:{port}
  default_backend back
backend back
  server one 127.0.0.1:{back}
"""
APACHE = """
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/error.log
LoadModule mpm_{mpm}_module /usr/lib/apache2/modules/mod_mpm_{mpm}.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
User www-data
Group www-data
StartServers 1
ProxyPass / http://127.0.0.1:{back}/
"""
LIGHTTPD = """
server.port = {port}
server.bind = "127.0.0.1"
server.document-root = "{folder}"
server.modules = ("mod_proxy")
proxy.server = ("/" => (("host" => "127.0.0.1", "port" => {back})))
"""


def nginx(stage, what, worker):
    port = stage.port()
    config = stage.file("nginx.conf", NGINX.format(folder=stage.folder, port=port, what=what))
    server = stage.start("server", "nginx", "-p", stage.folder, "-c", config, truth="work")
    stage.wait_for_port(port)
    stage.watched.append(lambda: server.role.see({pid: worker for pid in stage.children_of(server)}))
    return port


@scenario("nginx", "nginx")
def nginx_idle(stage):
    stage.idle_connections(nginx(stage, "return 200", "work"))


@scenario("nginx", "nginx")
def nginx_slow_upstream(stage):
    stage.requests(nginx(stage, f"proxy_pass http://127.0.0.1:{stage.slow_server()}", "answer"), 3)


@scenario("nginx", "nginx")
def nginx_hung_upstream(stage):
    stage.requests(nginx(stage, f"proxy_pass http://127.0.0.1:{stage.silent_server()}", "answer"), 3)


@scenario("nginx", "nginx")
def nginx_threads_for_files(stage):
    stage.idle_connections(nginx(stage, f"root {stage.folder}; aio threads", "work"))


def haproxy(stage, back, truth):
    port = stage.port()
    config = stage.file("haproxy.cfg", HAPROXY.format(port=port, back=back))
    stage.start("server", "haproxy", "-db", "-f", config, truth=truth)
    return stage.wait_for_port(port)


@scenario("HAProxy", "haproxy")
def haproxy_idle(stage):
    stage.idle_connections(haproxy(stage, stage.port(), "work"))


@scenario("HAProxy", "haproxy")
def haproxy_slow_upstream(stage):
    stage.requests(haproxy(stage, stage.slow_server(), "answer"), 2)


def apache(stage, mpm, back):
    port = stage.port()
    config = stage.file("apache.conf", APACHE.format(folder=stage.folder, port=port, back=back, mpm=mpm))
    server = stage.start("server", "apache2", "-X" if mpm == "none" else "-DFOREGROUND", "-f", config,
                         truth="work")
    return stage.wait_for_port(port), server


@scenario("Apache", "apache2")
def apache_idle(stage):
    apache(stage, "event", stage.port())


@scenario("Apache", "apache2")
def apache_idle_prefork(stage):
    apache(stage, "prefork", stage.port())


@scenario("Apache", "apache2")
def apache_slow_upstream(stage):
    """Three of its threads wait for the upstream, always."""
    port, server = apache(stage, "event", stage.slow_server(2))
    server.role.numbers = {"answer": 3}
    stage.requests(port, 3)


@scenario("Apache", "apache2")
def apache_hung_upstream_prefork(stage):
    port, server = apache(stage, "prefork", stage.silent_server())
    server.role.numbers = {"answer": 2}
    stage.requests(port, 2)


def lighttpd(stage, back, truth):
    port = stage.port()
    config = stage.file("lighttpd.conf", LIGHTTPD.format(folder=stage.folder, port=port, back=back))
    stage.start("server", "lighttpd", "-D", "-f", config, truth=truth)
    return stage.wait_for_port(port)


@scenario("lighttpd", "lighttpd", rules=False)
def lighttpd_idle(stage):
    stage.idle_connections(lighttpd(stage, stage.port(), "work"))


@scenario("lighttpd", "lighttpd", rules=False)
def lighttpd_slow_upstream(stage):
    stage.requests(lighttpd(stage, stage.slow_server(), "answer"), 2)


@scenario("Squid", "squid", rules=False)
def squid_idle(stage):
    port = stage.port()
    config = stage.file("squid.conf", f"http_port 127.0.0.1:{port}\npid_filename {stage.folder}/pid\n"
                        f"cache_log {stage.folder}/cache.log\naccess_log none\npinger_enable off\n"
                        f"coredump_dir {stage.folder}\n")
    stage.folder.chmod(0o777)
    stage.start("work", "squid", "-N", "-n", f"wait{port}", "-f", config)
    stage.wait_for_port(port)


@scenario("tinyproxy", "tinyproxy", rules=False)
def tinyproxy_idle(stage):
    port = stage.port()
    config = stage.file("tinyproxy.conf", f"Port {port}\nListen 127.0.0.1\nTimeout 600\nMaxClients 10\n")
    stage.start("work", "tinyproxy", "-d", "-c", config)
    stage.idle_connections(stage.wait_for_port(port), 1)
