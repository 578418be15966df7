"""What is shipped for a deployment can be read, and says the same everywhere.

Helm isn't at hand in CI: `render` fills the few forms of template that the chart uses, and refuses
every other, so that a template which it can't fill fails here.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from pyarrow.fs import FileSystem

from atom.cli.main import NOUNS
from atom.deployment import load_deployment

_FORM = re.compile(r"(?:(toJson|toYaml) )?\.Values\.([\w.]+)(?: \| (quote))?")
_IF = re.compile(r"\{\{- if \.Values\.([\w.]+) \}\}\n(.*?)\{\{- end \}\}\n", re.S)


@pytest.fixture(scope="module")
def folder(project):
    return project / "deploy"


@pytest.fixture(scope="module")
def values(folder):
    return yaml.safe_load((folder / "chart" / "values.yaml").read_text(encoding="utf-8"))


def _value(values, path):
    for part in path.split("."):
        values = values[part]
    return values


def render(text, values):
    """Fill a template as Helm would; a form that isn't known is an error."""
    text = _IF.sub(lambda found: found[2] if _value(values, found[1]) else "", text)

    def fill(found):
        form = _FORM.fullmatch(found[1].strip())
        assert form is not None, found[0]
        value = _value(values, form[2])
        if form[1] == "toYaml":
            value = yaml.safe_dump(value)
        written = form[1] == "toJson" or form[3] == "quote"
        return json.dumps(value) if written else str(value)

    return re.sub(r"\{\{(.*?)\}\}", fill, text)


def objects(folder, values):
    found = []
    for path in sorted((folder / "chart" / "templates").glob("*.yaml")):
        found += yaml.safe_load_all(render(path.read_text(encoding="utf-8"), values))
    return {(one["kind"], one["metadata"]["name"]): one for one in found if one}


def test_the_example_is_a_deployment(folder):
    found = load_deployment(folder / "deployment.yaml")
    assert found.sign_in.roles["viewer"] == ("*",)
    named = (folder / "secrets.env.example").read_text(encoding="utf-8")
    for variable in (found.store, found.sign_in.client_secret, found.sign_in.cookie_secret):
        assert f"\n{variable}=" in f"\n{named}"


def test_the_chart_holds_a_deployment_a_migration_and_a_sticky_service(folder, values, tmp_path):
    found = objects(folder, values)
    text = found["ConfigMap", "atom-deployment"]["data"]["deployment.yaml"]
    (tmp_path / "deployment.yaml").write_text(text, encoding="utf-8")
    deployment = load_deployment(tmp_path / "deployment.yaml")
    job = found["Job", "atom-migrate"]
    assert "pre-upgrade" in job["metadata"]["annotations"]["helm.sh/hook"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["python", "-m", "atom", "store", "migrate"]
    app = found["Deployment", "atom-app"]["spec"]
    assert app["replicas"] == 2
    (container,) = app["template"]["spec"]["containers"]
    assert container["ports"] == [{"containerPort": deployment.port}]
    assert container["readinessProbe"]["httpGet"]["path"] == "/_stcore/health"
    sticky = "traefik.ingress.kubernetes.io/service.sticky.cookie"
    assert found["Service", "atom-app"]["metadata"]["annotations"][sticky] == "true"
    assert found["Ingress", "atom"]["spec"]["rules"][0]["host"] in deployment.called
    assert ("RayCluster", "atom-ray") not in found


def test_the_chart_makes_a_cluster_where_one_is_asked_for(folder, values):
    values = {**values, "ray": {**values["ray"], "enabled": True}}
    cluster = objects(folder, values)["RayCluster", "atom-ray"]["spec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}
    assert cluster["workerGroupSpecs"][0]["maxReplicas"] == 8


def test_compose_starts_two_replicas_after_one_migration(folder, project):
    found = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))
    services = found["services"]
    assert services["migrate"]["command"] == ["python", "-m", "atom", "store", "migrate",
                                              "--pictures"]  # fmt: skip
    assert "store" in NOUNS
    for name in ("app-a", "app-b"):
        waits = services[name]["depends_on"]["migrate"]["condition"]
        assert waits == "service_completed_successfully"
        assert f"{name}:8501" in services["proxy"]["environment"]["ATOM_APPS"]
    # Ray runs whatever it is sent: no port of it leaves the server, and it isn't started unasked.
    assert all("ports" not in one for name, one in services.items() if name != "proxy")
    assert all(services[one]["profiles"] == ["cluster"] for one in ("ray-head", "ray-worker"))
    named = {one.split(":")[0] for s in services.values() for one in s.get("volumes", ())}
    assert {one for one in named if not one.startswith(".")} == set(found["volumes"])
    assert (project / "requirements-team.txt").is_file()


def test_pictures_lie_in_an_object_store_whose_bucket_is_made_first(folder, values):
    services = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))["services"]
    lines = (folder / "objects.env.example").read_text(encoding="utf-8").splitlines()
    named = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    assert place_of(named["ATOM_PICTURES"]) == "objects:7070"
    assert services["objects"]["env_file"] == ["objects.env"]
    for name in ("app-a", "app-b", "migrate", "ray-head", "ray-worker"):
        assert "objects.env" in services[name]["env_file"]
    assert "objects" in services["migrate"]["depends_on"]
    # The object store sees no secret but its own.
    assert {name for name in named if name.startswith("ROOT_")} <= named.keys()
    assert named["ROOT_ACCESS_KEY_ID"] == named["AWS_ACCESS_KEY_ID"]

    values = {**values, "ray": {**values["ray"], "enabled": True}}
    found = objects(folder, values)
    address = found["ConfigMap", "atom-pictures"]["data"]["ATOM_PICTURES"]
    service = found["Service", "atom-objects"]
    port = service["spec"]["ports"][0]["port"]
    assert place_of(address) == f"{service['metadata']['name']}:{port}"
    job = found["Job", "atom-bucket"]
    # After the object store is there, which a hook before the install would wait for in vain.
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "post-install,post-upgrade"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][-1] == "--pictures"
    workers = found["RayCluster", "atom-ray"]["spec"]["workerGroupSpecs"][0]["template"]
    app = found["Deployment", "atom-app"]["spec"]["template"]
    for pod in (job["spec"]["template"], workers, app):
        (container,) = pod["spec"]["containers"]
        assert {"configMapRef": {"name": "atom-pictures"}} in container["envFrom"]
    (container,) = found["Deployment", "atom-objects"]["spec"]["template"]["spec"]["containers"]
    assert "envFrom" not in container

    own = {**values, "objects": {**values["objects"], "install": False, "pictures": ""}}
    assert ("Job", "atom-bucket") not in objects(folder, own)
    assert found.keys() - objects(folder, own).keys() == {
        (kind, "atom-objects") for kind in ("PersistentVolumeClaim", "Deployment", "Service")
    } | {("Job", "atom-bucket")}


def place_of(address):
    """Return the host and port of an object store's address, once what reads it took it."""
    assert FileSystem.from_uri(address)[1].startswith("atom-pictures/")
    return parse_qs(urlsplit(address).query)["endpoint_override"][0]


def test_caddy_takes_its_file(folder, tmp_path):
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("needs Caddy (on Debian: apt-get install caddy)")
    command = [caddy, "adapt", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    environ = {"ATOM_ROUTE_SECRET": "x" * 8, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, env=environ, timeout=30, check=True)
    (server,) = json.loads(done.stdout)["apps"]["http"]["servers"].values()
    text = json.dumps(server)
    assert '"policy": "cookie"' in text
    assert '"dial": "app-b:8501"' in text
