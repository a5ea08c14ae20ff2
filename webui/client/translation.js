/** What modules say of their tools in other languages than that of their authors. */

/** @typedef {{description?: string | null, arguments: Record<string, string>}} Translation  of one tool, in one language */

/** The schema of a tool's arguments in a language. @template {{properties?: Record<string, any>}} S @param {S} schema @param {Translation | undefined} texts @returns {S} */
export function translatedSchema(schema, texts) {
  if (!texts || !schema.properties) return schema;
  const said = Object.entries(schema.properties).map(([name, part]) => [name, Object.hasOwn(texts.arguments, name) ? {...part, description: texts.arguments[name]} : part]);
  return {...schema, properties: Object.fromEntries(said)};
}
