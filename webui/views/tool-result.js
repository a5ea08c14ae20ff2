/** Converts the result of a call to MCP (`CallToolResult`). */

/** @typedef {import('../client/client.js').Envelope} Envelope */

/** @param {Envelope} envelope */
export function toolResult({ok, content = [], data, error}) {
  if (!ok) return {content: [text(error?.message ?? '')], isError: true};
  const structured = typeof data === 'object' && data !== null && !Array.isArray(data) ? {structuredContent: data} : {};
  return {content: content.map(block), ...structured};
}

/** Return the contents that a view reads from its server, from the result of the tool that reads them. @param {Envelope} envelope */
export function resourceContents({data}) {
  return {contents: Array.isArray(data?.contents) ? data.contents : []};
}

/** @param {string} said */
const text = (said) => ({type: 'text', text: said});

/** @param {Record<string, any>} given */
function block({type, mime, base64, ...rest}) {
  switch (type) {
    case 'text': return text(String(rest.text));
    case 'image': case 'audio': return {type, data: base64, mimeType: mime};
    case 'resource': return {type, resource: {uri: rest.uri, mimeType: mime, ...(base64 === undefined ? {text: rest.text} : {blob: base64})}};
    // artifacts belong to the page: a view cannot access them
    default: return text(rest.preview || String(rest.name ?? ''));
  }
}
