// Score rows with exported models. Standard input: [{model: FILE, inputs: {NAME: {type, width, data}}}, ...], null standing for
// NaN; standard output: [{OUTPUT: {dims, data}}, ...] in the same way. The first argument is the folder that holds node_modules.
"use strict";
const path = require("path");
const fs = require("fs");
const ort = require(path.join(path.resolve(process.argv[2]), "node_modules", "onnxruntime-node"));

function tensor(input) {
  const data = input.type === "float64" ? Float64Array.from(input.data, (x) => (x === null ? NaN : x)) : input.data;
  return new ort.Tensor(input.type, data, [input.data.length / input.width, input.width]);
}

async function score(job) {
  const session = await ort.InferenceSession.create(job.model, { logSeverityLevel: 2 });
  const feeds = {};
  for (const name of Object.keys(job.inputs)) feeds[name] = tensor(job.inputs[name]);
  const results = await session.run(feeds);
  const told = {};
  for (const name of session.outputNames) told[name] = { dims: results[name].dims, data: Array.from(results[name].data) };
  return told;
}

(async () => {
  const told = [];
  for (const job of JSON.parse(fs.readFileSync(0, "utf8"))) told.push(await score(job));
  process.stdout.write(JSON.stringify(told));
})().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
