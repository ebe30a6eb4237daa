// The pods of the overlays, run with the real programs.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CertificateAuthority } from "./certificates.mjs";
import { Pod, eventually, serverName } from "./pod.mjs";
import { manifests, render, yaml } from "./tools.mjs";

for (const overlay of ["base", "overlays/deployment", "overlays/production"]) {
  test(`the pod of ${overlay} starts in order, is probed, and stops cleanly`, async () => {
    const objects = render(join(manifests, overlay));
    const pod = new Pod(objects);
    try {
      await pod.start();
      // As the kubelet, which lets a probe fail now and then.
      await eventually("the sidecar is live", () => pod.probe("livenessProbe"));

      const policies = yaml.load(
        objects.find((o) => o.data?.["containers.yaml"]).data["containers.yaml"],
      );
      const listed = await pod.run("ttlctl", "--json", "containers", "list");
      assert.deepEqual(
        listed.stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).id)
          .sort(),
        policies.containers.map(({ id }) => id).sort(),
      );

      assert.deepEqual(await pod.stop(), { store: 0, "ttl-sidecar": 0 });
      assert.equal(await pod.probe("livenessProbe"), false, "a sidecar that is gone is not live");
    } finally {
      await pod.dispose();
    }
  });
}

test("what ttlctl apply changes is what the file of the sidecar says", async () => {
  const objects = render(join(manifests, "base"));
  const pod = new Pod(objects);
  const file = join(pod.folder, "ttl-containers/containers.yaml");
  try {
    await pod.start();
    const outcomes = async (...options) => {
      const { code, stdout, stderr } = await pod.run(
        "ttlctl",
        "--json",
        "apply",
        "-f",
        file,
        ...options,
      );
      assert.equal(code, 0, stderr);
      return stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).outcome);
    };
    assert.deepEqual(await outcomes(), ["unchanged", "unchanged"]);
    await pod.run("ttlctl", "containers", "set", "shop/sessions", "--default-ttl", "off");
    await pod.run("ttlctl", "containers", "delete", "shop/carts", "--yes");
    assert.deepEqual(await outcomes("--dry-run"), ["would be changed", "would be created"]);
    assert.deepEqual(await outcomes(), ["changed", "created"]);
    assert.deepEqual(await outcomes(), ["unchanged", "unchanged"]);
  } finally {
    await pod.dispose();
  }
});

test("callers over TCP may do what components/tls/access.yaml says of their certificates", async () => {
  const pod = new Pod(render(join(manifests, "overlays/tls")));
  try {
    await pod.start();
    const server = ["--ca-file", pod.authority.certificate, "--server-name", serverName];
    const as = (authority, file, names) => {
      const { certificate, key } = authority.issue(file, names);
      return [...server, "--cert-file", certificate, "--key-file", key];
    };
    const cluster = pod.authority;
    const others = new CertificateAuthority(pod.folder, "others-ca");
    const operator = { commonName: "ttl-operator" };
    const gateway = { commonName: "gateway", dns: ["gateway.shop.svc.cluster.local"] };
    const ok = { code: 0, message: /^$/ };
    const denied = { code: 1, message: /may not call ContainerService/ };
    const unreachable = { code: 4, message: /./ };
    const read = ["containers", "get", "shop/sessions"];
    const change = ["containers", "set", "shop/sessions", "--default-ttl", "7200"];

    for (const [caller, tls, reading, changing] of [
      ["the operator", as(cluster, "operator", operator), ok, ok],
      ["the gateway", as(cluster, "gateway", gateway), ok, denied],
      ["a name that is not in the file", as(cluster, "x", { commonName: "x" }), denied, denied],
      ["an operator of others", as(others, "operator", operator), unreachable, unreachable],
      ["no certificate", server, unreachable, unreachable],
      ["plain text", [], unreachable, unreachable],
    ]) {
      for (const [args, wanted] of [
        [read, reading],
        [change, changing],
      ]) {
        const { code, stderr } = await pod.runOutside(tls, ...args);
        const what = `${caller}: ${args.join(" ")}: ${stderr}`;
        assert.equal(code, wanted.code, what);
        assert.match(stderr, wanted.message, what);
      }
    }
  } finally {
    await pod.dispose();
  }
});

test("rows of the pod of overlays/postgres are hidden at once, deleted, and all of it can be removed", async () => {
  const pod = new Pod(render(join(manifests, "overlays/postgres")));
  const asShop = (statements) => pod.sql("shop", "shop", statements);
  const asPostgres = (statements) => pod.sql("postgres", "postgres", statements);
  try {
    // The pod is ready once the Job has made what is needed, and the Job waits for the database.
    const [, installed] = await Promise.all([pod.start(), pod.runJob("ttl-postgres-install")]);
    assert.match(installed, /^installed$/m);
    await eventually("ttl-postgres is live", () => pod.probe("livenessProbe", "ttl-postgres"));

    await asShop(
      `INSERT INTO sessions (updated_at, ttl, payload) VALUES
        (now(), NULL, 'new'), (now() - interval '2 hours', -1, 'for ever'),
        (now() - interval '2 hours', NULL, 'old by the default'),
        (now() - interval '10 seconds', 5, 'old by its own')`,
    );
    assert.equal(await asShop("SELECT count(*) FROM sessions"), "2");
    await eventually("expired rows are deleted", async () => {
      return (await asPostgres("SELECT count(*) FROM sessions")) === "2";
    });
    assert.equal(
      await asPostgres("SELECT string_agg(payload, ', ' ORDER BY payload) FROM sessions"),
      "for ever, new",
    );

    const uninstall = await pod.runIn(
      "ttl-postgres",
      "ttl-postgres",
      "uninstall",
      "--print",
      "--config=/etc/ttl-postgres/ttl-postgres.yaml",
    );
    assert.equal(uninstall.code, 0, uninstall.stderr);
    assert.equal(await pod.stopContainer("ttl-postgres"), 0);
    // The server's process for it ends a moment later.
    await eventually("its slot is no longer in use", async () => {
      return (await asPostgres("SELECT count(*) FROM pg_replication_slots WHERE active")) === "0";
    });
    await asPostgres(uninstall.stdout);
    for (const [what, left] of [
      ["pg_replication_slots", ""],
      ["pg_publication", ""],
      ["pg_namespace", "WHERE nspname = 'ttl'"],
      ["pg_policies", ""],
    ]) {
      assert.equal(await asPostgres(`SELECT count(*) FROM ${what} ${left}`), "0", what);
    }
    assert.equal(await asShop("SELECT count(*) FROM sessions"), "2");
    assert.deepEqual(await pod.stop(), { postgres: 0, "ttl-postgres": 0, "ttl-sidecar": 0 });
  } finally {
    await pod.dispose();
  }
});

for (const [volume, lose] of [
  ["with what it had", () => {}],
  ["without its volume", (pod) => rmSync(join(pod.folder, "ttl-metadata/db"), { recursive: true })],
]) {
  test(`the sidecar of overlays/postgres comes again ${volume}, and knows all rows`, async () => {
    const pod = new Pod(render(join(manifests, "overlays/postgres")));
    const asPostgres = (statements) => pod.sql("postgres", "postgres", statements);
    const tracked = async () => {
      const { stdout } = await pod.run("ttlctl", "--json", "items", "list", "shop/sessions");
      return stdout.split("\n").filter(Boolean).length;
    };
    const exitCodes = { postgres: 0, "ttl-postgres": 0, "ttl-sidecar": 0 };
    try {
      await Promise.all([pod.start(), pod.runJob("ttl-postgres-install")]);
      await asPostgres("INSERT INTO sessions (payload) VALUES ('a'), ('b')");
      await eventually("both rows are tracked", async () => (await tracked()) === 2);
      assert.deepEqual(await pod.stop(), exitCodes);

      lose(pod);
      await pod.start();
      await eventually("both rows are tracked again", async () => (await tracked()) === 2);
      await asPostgres("UPDATE sessions SET updated_at = now() - interval '2 hours'");
      await eventually("both are deleted", async () => {
        return (await asPostgres("SELECT count(*) FROM sessions")) === "0";
      });
      assert.deepEqual(await pod.stop(), exitCodes);
    } finally {
      await pod.dispose();
    }
  });
}
