"""What can be checked of the container files without a container engine: what they say, and that nginx takes it."""

import ast
import base64
import hashlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
import streamlit
import yaml

from deploy import local
from pages._ui.visitor import COOKIE, SECURE_COOKIE
from pages._ui.work import cached
from tests import structure
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
NGINX = (DEPLOY / "nginx.conf").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
APPS = [name for name, service in COMPOSE["services"].items() if service.get("image") == "dpgp"]

needs_nginx = pytest.mark.skipif(local.NGINX is None, reason="NO NGINX: nginx is not installed")


def instructions():
    """(INSTRUCTION, argument) pairs of the Dockerfile, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", DOCKERFILE))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def last_stage():
    steps = instructions()
    return steps[max(number for number, (name, _) in enumerate(steps) if name == "FROM") :]


def arguments(name):
    return [argument for step, argument in last_stage() if step == name]


SETTINGS = dict(pair.split("=", 1) for pair in " ".join(arguments("ENV")).split())


def test_packages_are_installed_from_the_lock_with_hashes():
    installs = [argument for name, argument in instructions() if name == "RUN" and "pip install" in argument]
    assert len(installs) == 1
    assert "--require-hashes -r /requirements.lock" in installs[0]
    assert "COPY requirements.lock" in DOCKERFILE
    lock = (ROOT / "requirements.lock").read_text()
    pinned = re.findall(r"(?m)^\S+?==\S+", lock)
    assert len(pinned) > 20
    assert len(re.findall(r"(?m)^\S+?==.*\\$", lock)) == len(pinned)  # each line goes on with its hashes


def test_the_image_contains_the_postgresql_driver():
    pinned = re.compile(r"(?ms)^(?:psycopg|psycopg-binary)==.*?(?=^\S)")
    app, dev = (pinned.findall((ROOT / name).read_text()) for name in ("requirements.lock", "requirements-dev.lock"))
    assert len(app) == 2
    assert app == dev  # the version, and the files, that the tests ran with


def test_replicas_reach_outside_ledgers_only_if_configured():
    more = yaml.safe_load((DEPLOY / "postgres.yaml").read_text())
    assert set(more["services"]) == set(APPS)
    for service in more["services"].values():
        assert service["networks"] == {"ledgers": {}}
        settings = service["environment"]
        assert set(settings) == {"DPGP_LEDGER_DSN", "DPGP_LEDGER_KEY"}
        assert all(settings[name].startswith(f"${{{name}:?") for name in settings)  # compose refuses without it
    assert more["networks"]["ledgers"] is None or not more["networks"]["ledgers"].get("internal")
    assert "ledgers" not in COMPOSE["networks"]


def test_the_server_is_unprivileged_without_secrets_in_images():
    steps = [name for name, _ in last_stage()]
    [user] = arguments("USER")
    assert int(user.split(":")[0]) > 0
    assert steps.index("USER") < steps.index("CMD")
    assert not {"ADD", "VOLUME"} & set(steps)
    assert "SECRET" not in DOCKERFILE.upper().replace("SECRETS.TOML", "")


@pytest.mark.full
def test_everything_the_app_imports_is_copied():
    copied = {path for line in arguments("COPY") if "--from" not in line for path in line.split()[:-1]}
    assert [path for path in copied if not (ROOT / path).exists()] == []
    own = {path.stem for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py"}
    for script in [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "datasets").rglob("*.py")]:
        for node in structure.nodes(script):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            needed = {name.split(".")[0] for name in names} & own - set(sys.stdlib_module_names)
            assert needed <= copied, f"{script} needs {needed - copied}"
    sent = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert sent == copied | {"requirements.lock"}


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_no_container_can_write_or_gain_rights(name):
    service = COMPOSE["services"][name]
    always = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"], "init": True}
    assert service.items() >= (always | {"ulimits": {"core": 0}, "restart": "unless-stopped"}).items()
    assert not {"privileged", "cap_add", "network_mode", "pid", "devices"} & set(service)
    lasting = ["state:/state"] if name in APPS else []  # one volume for the ledgers, shared by the replicas
    assert [volume for volume in service.get("volumes", []) if not volume.endswith(":ro")] == lasting
    [tmpfs] = service["tmpfs"]
    assert re.match(r"/tmp:size=\d+m,.*noexec", tmpfs)
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["cpus"] > 0
    assert service["pids_limit"] > 0


def test_all_processes_at_their_limit_fit_the_container():
    processes = int(SETTINGS["DPGP_WORKERS"]) + cached._PRIVATE + 2 * cached._SPARE
    server = 2 * 600 + 100  # the cache, and as much for its pages
    for name in APPS:
        limit = int(re.fullmatch(r"(\d+)g", COMPOSE["services"][name]["mem_limit"])[1]) * 1024
        assert processes * int(SETTINGS["DPGP_WORKER_MB"]) + server < limit


def test_two_replicas_share_a_secret_behind_the_gate():
    assert len(APPS) == 2
    secrets = {COMPOSE["services"][name]["environment"]["STREAMLIT_SERVER_COOKIE_SECRET"] for name in APPS}
    assert len(secrets) == 1
    assert secrets.pop().startswith("${DPGP_COOKIE_SECRET:?")  # compose refuses to start without it
    for name in APPS:
        assert "ports" not in COMPOSE["services"][name]
        assert set(COMPOSE["services"][name]["networks"]) == {"inside"}
    assert COMPOSE["networks"]["inside"]["internal"] is True
    gate = COMPOSE["services"]["gate"]
    assert {state["condition"] for state in gate["depends_on"].values()} == {"service_healthy"}
    assert set(gate["depends_on"]) == set(APPS)


def test_nginx_finds_the_replicas_of_compose():
    servers = re.findall(
        r"(?m)^server ([\d.]+):(\d+) max_fails=1 fail_timeout=5s;$", (DEPLOY / "replicas.conf").read_text()
    )
    assert sorted(servers) == sorted(
        (COMPOSE["services"][name]["networks"]["inside"]["ipv4_address"], "8501") for name in APPS
    )
    listened = re.search(r"listen (\d+)", (DEPLOY / "listen.conf").read_text())[1]
    assert COMPOSE["services"]["gate"]["ports"] == [f"8080:{listened}"]
    mounted = {volume.split(":")[0].removeprefix("./") for volume in COMPOSE["services"]["gate"]["volumes"]}
    assert mounted == {"nginx.conf", *re.findall(r"include (\w+\.conf);", NGINX)}
    assert all((DEPLOY / name).is_file() for name in mounted)


def test_nginx_and_the_app_agree_on_the_cookie():
    token = "[A-Za-z0-9_-]{22,64}"  # as in pages/_ui/visitor.py, whose tests pin the two ends
    assert f'"~^https (?:.*; ?)?{SECURE_COOKIE}=(?<secure_token>{token})(?:;|$)" $secure_token;' in NGINX
    assert f'"~^http (?:.*; ?)?{COOKIE}=(?<token>{token})(?:;|$)" $token;' in NGINX
    assert "hash $visitor consistent;" in NGINX


def test_the_policy_allows_only_streamlits_inline_script():
    index = (Path(streamlit.__file__).parent / "static/index.html").read_text()
    inline = re.findall(r"<script>(.*?)</script>", index, re.S)
    hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in inline]
    assert re.findall(r"'sha256-([^']+)'", NGINX) == hashes


def test_the_body_limit_leaves_room_for_the_form():
    limit = int(re.search(r"client_max_body_size\s+(\d+)k;", NGINX)[1]) * 1024
    config = (ROOT / ".streamlit/config.toml").read_text()
    streamlits = int(re.search(r"maxUploadSize = (\d+)", config)[1]) * 1024 * 1024
    assert 1024 < limit - streamlits <= 128 * 1024
    script = (ROOT / "pages/_ui/look/page.js").read_text()
    assert f"LARGEST = {streamlits // 2**20} * 2 ** 20;" in script
    # uploads wait in memory, not in a file
    assert re.search(r"client_body_buffer_size\s+(\d+k);", NGINX)[1] == f"{limit // 1024}k"


def test_no_log_contains_a_visitors_request():
    assert re.findall(r"(?m)^error_log (.*);", NGINX) == ["stderr crit"]  # below it requests are quoted
    [plain] = re.findall(r"(?s)log_format plain (.*?);", NGINX)
    assert "$logged_path" in plain
    assert not re.search(r"\$(request|request_uri|uri|args|query_string|http_\w+)\b", plain)


# ---- That nginx takes it: as on this machine, every test of the gate sees.


def nginx_takes(folder, *command):
    asked = subprocess.run([local.NGINX, *command, "-t"], capture_output=True, text=True, cwd=folder, check=False)
    return asked.returncode == 0, asked.stderr


@needs_nginx
def test_nginx_accepts_its_configuration_and_refuses_nonsense(tmp_path):
    for name in ("nginx.conf", "listen.conf", "replicas.conf"):
        shutil.copy(DEPLOY / name, tmp_path)
    (tmp_path / "temp").mkdir()
    command = ["-p", f"{tmp_path}/", "-c", str(tmp_path / "nginx.conf")]
    taken, said = nginx_takes(tmp_path, *command)
    assert taken, said
    (tmp_path / "replicas.conf").write_text("serve me;")
    assert not nginx_takes(tmp_path, *command)[0]


@needs_nginx
def test_nginx_ends_tls_itself(tmp_path):
    """A browser that trusts the certificate is answered, and told to come by TLS only."""
    [port, plain] = local.free_ports(2)
    arguments = local.configure(tmp_path, plain, local.free_ports(1))
    listen = (DEPLOY / "listen-tls.conf").read_text().replace("listen 8443", f"listen 127.0.0.1:{port}")
    (tmp_path / "listen.conf").write_text(listen.replace("127.0.0.1:8080", f"127.0.0.1:{plain}"))
    (tmp_path / "tls").mkdir()
    key, made = tmp_path / "tls/privkey.pem", tmp_path / "tls/fullchain.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", made]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)
    taken, said = nginx_takes(tmp_path, *arguments)
    assert taken, said

    def answers():
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        return False

    with local._process([local.NGINX, *arguments], tmp_path / "log", {}) as process:
        wait_until(lambda: process.poll() is None and answers(), "nginx on its port")
        asked = urllib.request.Request(f"https://localhost:{port}/readyz")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=PATIENCE, context=ssl.create_default_context(cafile=made))
        with refused.value as answer:
            assert answer.code == 404
            assert "max-age=" in answer.headers["Strict-Transport-Security"]


def test_on_this_machine_nobody_from_elsewhere_is_answered(tmp_path, monkeypatch):
    local.configure(tmp_path, 8080, [8501])
    assert (tmp_path / "listen.conf").read_text() == "listen 127.0.0.1:8080 default_server;\n"
    settings = {}
    monkeypatch.setattr(local, "_process", lambda command, log, given: settings.update(given) or nullcontext())
    with local.replica(8501, tmp_path / "log", "secret"):
        assert settings["STREAMLIT_SERVER_ADDRESS"] == "127.0.0.1"
