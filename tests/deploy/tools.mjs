// What tests/deploy/run.sh has installed, and the folders it works on.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const tools = process.env.TTL_TOOLS;
const binaries = process.env.TTL_BIN;

export const modules = join(tools, "node_modules");
export const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const manifests = join(repository, "deploy/kubernetes");

// A module of a package, by its path under node_modules.
export const load = (path) => import(pathToFileURL(join(modules, path)));

export const yaml = (await load("js-yaml/dist/js-yaml.mjs")).default;

// The overlays there are, the base among them.
export const overlays = [
  "base",
  ...readdirSync(join(manifests, "overlays")).map((name) => `overlays/${name}`),
];

export const components = readdirSync(join(manifests, "components"));

// The objects that a kustomization makes. Whatever kubectl warns of counts as a failure.
export function render(folder) {
  const { status, stdout, stderr } = spawnSync(
    join(tools, "kubectl/kubectl"),
    ["kustomize", folder],
    { encoding: "utf8", env: { PATH: "/usr/bin:/bin" } },
  );
  if (status !== 0 || stderr !== "") throw new Error(`kubectl kustomize ${folder}: ${stderr}`);
  return yaml.loadAll(stdout);
}

// What one of our programs prints for --help, of a subcommand too.
export function helpOf(program, ...subcommands) {
  const folder = program === "pg_isready" ? postgresPrograms : binaries;
  return execFileSync(join(folder, program), [...subcommands, "--help"], { encoding: "utf8" });
}

// Where Debian has the programs of PostgreSQL.
export const postgresPrograms = "/usr/lib/postgresql/15/bin";

// The settings that the server knows, with their defaults.
export function settingsOfPostgres() {
  const text = execFileSync(join(postgresPrograms, "postgres"), ["--describe-config"], {
    encoding: "utf8",
  });
  return Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => line.split("\t"))
      .map(([name, , , , value]) => [name, value]),
  );
}
