// The TypeScript SDK's client: connects as it is told, lists tools, makes calls, and prints what it gets, each on a line.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const told = JSON.parse(process.argv[2]);
const transport = told.url
    ? new StreamableHTTPClientTransport(new URL(told.url), { requestInit: { headers: told.headers } })
    : new StdioClientTransport({ ...told, env: process.env });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const say = (what) => console.log(JSON.stringify(what));
say({ tools: tools.map((tool) => tool.name) });
for (const call of told.calls) {
    const result = await client.callTool(call, undefined, { onprogress: ({ message }) => say({ progress: message }) });
    say({ text: result.content[0].text });
}
await client.close();
