// Who can reach whom beside the network policies of the overlays: every pair of pods is tried,
// and what is listed is all that there is.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { connects, podAt, podHere } from "./networkpolicy.mjs";
import { manifests, render } from "./tools.mjs";

const strangers = {
  "another pod": podHere({ app: "other" }),
  prometheus: podAt("monitoring"),
  "pod of another namespace": podAt("other"),
  dns: podAt("kube-system", { "k8s-app": "kube-dns" }),
  "pod beside dns": podAt("kube-system"),
};

const labelsOf = (objects, kind) =>
  podHere(objects.find((object) => object.kind === kind).spec.template.metadata.labels);

// All connections from or to one of `ours`, as "from > to port".
function connections(objects, ours, others, ports) {
  const pods = Object.entries({ ...ours, ...others, ...strangers });
  const found = [];
  for (const [from, source] of pods) {
    for (const [to, target] of pods) {
      if (from === to || !(from in ours || to in ours)) continue;
      for (const port of ports)
        if (connects(objects, source, target, port)) found.push(`${from} > ${to} ${port}`);
    }
  }
  return found.sort();
}

for (const overlay of ["overlays/postgres", "overlays/postgres-monitoring"]) {
  test(`${overlay}: the database is reached by its users, and only the Job reaches anybody`, () => {
    const objects = render(join(manifests, overlay));
    const ours = { database: labelsOf(objects, "StatefulSet"), job: labelsOf(objects, "Job") };
    const others = {
      application: podHere({ "postgres/client": "true" }),
      "application elsewhere": podAt("other", { "postgres/client": "true" }),
    };
    const ports = ["53/UDP", "53/TCP", "443/TCP", "5432/TCP", "9464/TCP", "9465/TCP"];
    assert.deepEqual(connections(objects, ours, others, ports), [
      "application > database 5432/TCP",
      "job > database 5432/TCP",
      "job > dns 53/TCP",
      "job > dns 53/UDP",
      "prometheus > database 9464/TCP",
      "prometheus > database 9465/TCP",
    ]);
  });
}

test("overlays/production: store and sidecar are reached by their clients, and reach nobody", () => {
  const objects = render(join(manifests, "overlays/production"));
  const ours = { pod: labelsOf(objects, "StatefulSet") };
  const others = {
    "client of the store": podHere({ "document-store/client": "true" }),
    "client of the sidecar": podHere({ "ttl-sidecar/client": "true" }),
    "client elsewhere": podAt("other", { "document-store/client": "true" }),
  };
  const ports = ["53/UDP", "53/TCP", "443/TCP", "7070/TCP", "7071/TCP", "9464/TCP"];
  assert.deepEqual(connections(objects, ours, others, ports), [
    "client of the sidecar > pod 7070/TCP",
    "client of the store > pod 7071/TCP",
    "prometheus > pod 9464/TCP",
  ]);
});
