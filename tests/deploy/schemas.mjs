// Checks objects against the schemas of Kubernetes and of the Prometheus operator.
//
// Their types refuse unknown fields and wrong types: each object becomes a literal of its
// type, and the TypeScript compiler says what does not fit. Their validators refuse values
// that the type allows (patterns, enumerations, formats).
import { join } from "node:path";
import { load, modules } from "./tools.mjs";

const ts = (await load("typescript/lib/typescript.js")).default;

const homes = {
  "v1/ConfigMap": "kubernetes-models/v1",
  "v1/PersistentVolumeClaim": "kubernetes-models/v1",
  "v1/Service": "kubernetes-models/v1",
  "apps/v1/Deployment": "kubernetes-models/apps/v1",
  "apps/v1/StatefulSet": "kubernetes-models/apps/v1",
  "batch/v1/Job": "kubernetes-models/batch/v1",
  "networking.k8s.io/v1/NetworkPolicy": "kubernetes-models/networking.k8s.io/v1",
  "monitoring.coreos.com/v1/PodMonitor":
    "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1",
  "monitoring.coreos.com/v1/PrometheusRule":
    "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1",
};

const options = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

const homeOf = (object) => homes[`${object.apiVersion}/${object.kind}`];

function literal(object) {
  const path = `${homeOf(object)}/${object.kind}`;
  const text = JSON.stringify(object, null, 2);
  return `import type { I${object.kind} } from "${path}";\nexport const object: I${object.kind} = ${text};\n`;
}

// "initContainers: ...": the message, and the line of the object that it is about.
function messageOf({ file, start, messageText }) {
  const { line } = file.getLineAndCharacterOfPosition(start);
  const where = file.text.split("\n")[line].trim();
  return `${where} ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
}

// Where the validator refuses the object, if it does.
async function refusals(object) {
  const model = await load(`${homeOf(object)}/${object.kind}.js`);
  try {
    new model[object.kind](object).validate();
    return [];
  } catch (error) {
    return [error.message];
  }
}

// For each object what is wrong with it; an empty list if nothing is.
export async function problems(objects) {
  const unknown = objects.filter((object) => homeOf(object) === undefined);
  if (unknown.length > 0) {
    throw new Error(`no schema for ${unknown.map((o) => `${o.apiVersion} ${o.kind}`)}`);
  }
  const files = objects.map((object, i) => join(modules, "..", `object-${process.pid}-${i}.ts`));
  const texts = new Map(objects.map((object, i) => [files[i], literal(object)]));
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, ...rest) =>
    texts.has(name)
      ? ts.createSourceFile(name, texts.get(name), options.target)
      : getSourceFile(name, ...rest);
  const program = ts.createProgram(files, options, host);
  return Promise.all(
    objects.map(async (object, i) => [
      ...ts.getPreEmitDiagnostics(program, program.getSourceFile(files[i])).map(messageOf),
      ...(await refusals(object)),
    ]),
  );
}
