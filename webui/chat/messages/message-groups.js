/** @typedef {import('../conversation/items.js').ChatItem} ChatItem */
/** @typedef {{id: number, items: ChatItem[]}} Group */

const SIZE = 10; // together taller than most screens
const CALL = 4; // each call counts as this many messages, as it shows its output

/**
 * Group neighbouring messages. A message stays in its group when others are added before or after it: in another group its
 * element would be created again, and what the user has opened in it would be closed.
 * @param {ChatItem[]} items
 * @param {Map<string, number>} known  the group of each message by its key, as of the last call; updated in place
 * @returns {Group[]}
 */
export function grouped(items, known) {
  const ends = new Map(items.map(({key}, at) => [known.get(key), at]));
  let next = Math.max(-1, ...known.values()) + 1;
  /** @type {Map<number, Group>} */
  const groups = new Map();
  /** @type {Group | undefined} */
  let group;
  for (const [at, item] of items.entries()) {
    const id = known.get(item.key);
    const isFull = !group || (sizeOf(group.items) >= SIZE && at > (ends.get(group.id) ?? -1));
    if (id !== undefined && !groups.has(id)) group = {id, items: []};
    else if (!group || (id !== group.id && isFull)) group = {id: next++, items: []};
    group.items.push(item);
    groups.set(group.id, group);
  }
  known.clear();
  for (const {id, items: own} of groups.values()) for (const {key} of own) known.set(key, id);
  return [...groups.values()];
}

/** @param {ChatItem[]} items */
function sizeOf(items) {
  return items.reduce((sum, {calls}) => sum + 1 + CALL * calls.length, 0);
}
