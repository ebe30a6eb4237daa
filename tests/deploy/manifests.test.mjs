// What deploy/kubernetes makes, overlay by overlay, and components together.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { broken } from "./rules.mjs";
import { problems } from "./schemas.mjs";
import { components, manifests, overlays, render, repository, yaml } from "./tools.mjs";

const kinds = {
  base: "ConfigMap Service StatefulSet",
  "overlays/deployment": "ConfigMap Deployment PersistentVolumeClaim Service",
  "overlays/monitoring": "ConfigMap PodMonitor PrometheusRule Service StatefulSet",
  "overlays/network-policy": "ConfigMap NetworkPolicy Service StatefulSet",
  "overlays/postgres":
    "ConfigMap ConfigMap ConfigMap Job NetworkPolicy NetworkPolicy Service StatefulSet",
  "overlays/postgres-monitoring":
    "ConfigMap ConfigMap ConfigMap Job NetworkPolicy NetworkPolicy PodMonitor PodMonitor " +
    "PrometheusRule Service StatefulSet",
  "overlays/production":
    "ConfigMap ConfigMap NetworkPolicy PodMonitor PrometheusRule Service StatefulSet",
  "overlays/tls": "ConfigMap ConfigMap Service StatefulSet",
};

// All ways to put some of the components onto the base.
function* selections(names) {
  for (let bits = 0; bits < 2 ** names.length; ++bits)
    yield names.filter((_, i) => bits & (1 << i));
}

// What the base with these components makes, in this order.
function renderTogether(chosen) {
  const folder = mkdtempSync(join(tmpdir(), "ttl-manifests-"));
  const at = (path) => relative(folder, join(manifests, path));
  try {
    writeFileSync(
      join(folder, "kustomization.yaml"),
      yaml.dump({
        resources: [at("base")],
        components: chosen.map((name) => at(`components/${name}`)),
      }),
    );
    return render(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// What the base makes with every selection of components, in both orders: a Deployment is
// made of the StatefulSet, so what names kinds may come after or before that.
function* combinations() {
  for (const chosen of selections(components)) {
    yield [chosen, renderTogether(chosen)];
    yield [[...chosen].reverse(), renderTogether([...chosen].reverse())];
  }
}

test("the overlays are those we know", () => {
  assert.deepEqual([...overlays].sort(), Object.keys(kinds).sort());
});

for (const overlay of overlays) {
  test(`${overlay} is what Kubernetes takes and our rules ask for`, async () => {
    const objects = render(join(manifests, overlay));
    assert.equal(
      objects
        .map((object) => object.kind)
        .sort()
        .join(" "),
      kinds[overlay],
    );
    assert.deepEqual((await problems(objects)).flat(), []);
    assert.deepEqual(broken(objects), []);
  });
}

test("components go together in every combination", async () => {
  const rendered = [...combinations()];
  for (const [chosen, objects] of rendered) assert.deepEqual(broken(objects), [], `with ${chosen}`);
  const found = await problems(rendered.flatMap(([, objects]) => objects));
  assert.deepEqual(found.flat(), []);
});

test("the alerts are those of deploy/monitoring", () => {
  const alerts = yaml.load(readFileSync(join(repository, "deploy/monitoring/alerts.yaml"), "utf8"));
  const rule = render(join(manifests, "overlays/monitoring")).find(
    (o) => o.kind === "PrometheusRule",
  );
  assert.ok(alerts.groups.length > 0);
  assert.deepEqual(rule.spec, alerts);
});

test("the policies of the base are a file that ttlctl takes", () => {
  // With a dry run nothing but the file is looked at before the server, which is not there.
  const run = () =>
    execFileSync(
      join(process.env.TTL_BIN, "ttlctl"),
      [
        "--server",
        "unix:/nowhere",
        "apply",
        "--dry-run",
        "-f",
        join(manifests, "base/containers.yaml"),
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
  assert.throws(run, (error) => error.status === 4);
});
