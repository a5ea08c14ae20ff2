/** The sentence that a description of a tool or module begins with, as plain text: what fits into a list. @param {string} description */
export function firstSentence(description) {
  const paragraph = description.split(/\n\s*\n/)[0].replace(/\s+/g, ' ').replaceAll('`', '').trim();
  return /^.*?(?:[.!?](?=\s|$)|[。！？])/.exec(paragraph)?.[0] ?? paragraph;
}
