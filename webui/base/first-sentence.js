/** Return the first sentence of a tool's or module's description as plain text, for lists. @param {string} description */
export function firstSentence(description) {
  const paragraph = description.split(/\n\s*\n/)[0].replace(/\s+/g, ' ').replaceAll('`', '').trim();
  return /^.*?(?:[.!?](?=\s|$)|[。！？])/.exec(paragraph)?.[0] ?? paragraph;
}
