/** Has llama.cpp make the grammars of tools, as its server does: `node llama_grammar.mjs MODEL < tools.json`. */
import {readFileSync, writeSync} from 'node:fs';
import {createRequire} from 'node:module';

const {LlamaContext} = createRequire(import.meta.url)('@fugood/node-llama-linux-x64');

/** Ends the process at once: a context that has refused something can neither go on nor be given back. */
function end(result) {
  writeSync(1, `\n${JSON.stringify(result)}`);
  process.kill(process.pid, 'SIGKILL');
}

async function take(tools, name) {
  // one each, for a context says that it is busy for a while after its answer
  const context = new LlamaContext({model: process.argv[2], n_ctx: 256, n_gpu_layers: 0, use_mmap: false, n_threads: 1});
  const options = {jinja: true, tools, tool_choice: 'required', parallel_tool_calls: false};
  try {
    const {grammar} = context.getFormattedChat([{role: 'user', content: 'hi'}], undefined, options);
    await context.completion({prompt: 'hi', grammar, n_predict: 1, temperature: 0}, () => {});
  } catch (error) {
    end({taken, refused: name, reason: error.message});
  }
  await context.release();
}

let taken = 0;
const tools = JSON.parse(readFileSync(0, 'utf8'));
for (const tool of tools) {
  await take([tool], tool.function.name);
  taken += 1;
}
await take(tools, 'all of them together');
end({taken});
