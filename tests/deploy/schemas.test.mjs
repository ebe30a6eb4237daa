// That the schema check refuses what Kubernetes would refuse or drop in silence.
import assert from "node:assert/strict";
import { test } from "node:test";
import { problems } from "./schemas.mjs";
import { components, manifests, render } from "./tools.mjs";

const sound = [
  ...render(`${manifests}/overlays/production`),
  ...render(`${manifests}/overlays/deployment`),
  ...render(`${manifests}/overlays/postgres`),
];

const find = (kind) => structuredClone(sound.find((object) => object.kind === kind));
const sidecarOf = (workload) => workload.spec.template.spec.initContainers[0];

// [what is wrong, kind, how to break a sound object, a part of the message]
const broken = [
  [
    "misspelt field of a pod",
    "StatefulSet",
    (o) => {
      o.spec.template.spec.terminationGracePeriodSecond = 5;
    },
    "terminationGracePeriodSecond",
  ],
  [
    "misspelt field deep inside",
    "StatefulSet",
    (o) => {
      sidecarOf(o).securityContext.readOnlyRootFileSystem = true;
    },
    "readOnlyRootFileSystem",
  ],
  [
    "field on the wrong level",
    "StatefulSet",
    (o) => {
      sidecarOf(o).runAsNonRoot = true;
    },
    "runAsNonRoot",
  ],
  [
    "field of a volume that is none",
    "Deployment",
    (o) => {
      o.spec.template.spec.volumes[0].emptydir = {};
    },
    "emptydir",
  ],
  [
    "field of a StatefulSet in a Deployment",
    "Deployment",
    (o) => {
      o.spec.serviceName = "x";
    },
    "serviceName",
  ],
  [
    "number as text",
    "StatefulSet",
    (o) => {
      o.spec.replicas = "1";
    },
    "replicas",
  ],
  [
    "text as a number",
    "StatefulSet",
    (o) => {
      sidecarOf(o).args[0] = 5;
    },
    "number",
  ],
  [
    "object as a list",
    "StatefulSet",
    (o) => {
      sidecarOf(o).resources = [];
    },
    "resources",
  ],
  [
    "name missing",
    "StatefulSet",
    (o) => {
      delete sidecarOf(o).name;
    },
    "name",
  ],
  [
    "selector missing",
    "Deployment",
    (o) => {
      delete o.spec.selector;
    },
    "selector",
  ],
  [
    "value outside of an enumeration",
    "StatefulSet",
    (o) => {
      o.spec.template.spec.securityContext.seccompProfile.type = "Default";
    },
    "Default",
  ],
  [
    "quantity that is none",
    "StatefulSet",
    (o) => {
      sidecarOf(o).resources.limits.memory = "640 megs";
    },
    "memory",
  ],
  [
    "misspelt field of a service",
    "Service",
    (o) => {
      o.spec.ports[0].targetport = 1;
    },
    "targetport",
  ],
  [
    "misspelt field of a job",
    "Job",
    (o) => {
      o.spec.ttlSecondsAfterFinish = 60;
    },
    "ttlSecondsAfterFinish",
  ],
  [
    "misspelt field of a network policy",
    "NetworkPolicy",
    (o) => {
      o.spec.ingress[0].port = [];
    },
    "port",
  ],
  [
    "misspelt field of a claim",
    "PersistentVolumeClaim",
    (o) => {
      o.spec.storage = "1Gi";
    },
    "storage",
  ],
  [
    "misspelt field of a pod monitor",
    "PodMonitor",
    (o) => {
      o.spec.podMetricsEndpoints[0].intervall = "15s";
    },
    "intervall",
  ],
  [
    "duration that is none",
    "PodMonitor",
    (o) => {
      o.spec.podMetricsEndpoints[0].interval = "often";
    },
    "interval",
  ],
  [
    "misspelt field of an alert",
    "PrometheusRule",
    (o) => {
      o.spec.groups = [{ name: "g", rules: [{ alert: "A", expression: "1" }] }];
    },
    "expression",
  ],
  [
    "text in a config map that is a number",
    "ConfigMap",
    (o) => {
      o.data.n = 5;
    },
    "number",
  ],
];

test("what is sound passes", async () => {
  assert.ok(components.length > 0);
  for (const found of await problems(sound)) assert.deepEqual(found, []);
});

test("what is broken is refused by name", async (t) => {
  const objects = broken.map(([, kind, damage]) => {
    const object = find(kind);
    damage(object);
    return object;
  });
  const found = await problems(objects);
  for (const [i, [what, , , expected]] of broken.entries()) {
    await t.test(what, () => assert.match(found[i].join("\n"), new RegExp(expected)));
  }
});

test("a kind without a schema is refused", async () => {
  await assert.rejects(problems([{ apiVersion: "v1", kind: "Secret" }]), /no schema for v1 Secret/);
});
