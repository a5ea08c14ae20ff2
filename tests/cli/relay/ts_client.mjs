// The TypeScript SDK's client: connects as it is told, lists tools, calls one, and prints what it got.
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
const result = await client.callTool(told.call);
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), text: result.content[0].text }));
