/** Sections of the sidebar, in order: their group, their address, and the view that is loaded on first use. */

/**
 * @typedef {object} Section
 * @property {string} id  first segment of the address
 * @property {'work' | 'manage'} group  what the user works with, or what the user manages
 * @property {string} label  key of the label text
 * @property {string} icon
 * @property {string} tag  element of the view; it receives `path`, the segments after the first, and `query`
 * @property {() => Promise<unknown>} load
 * @property {boolean} [fills]  the view is as high as the window and scrolls internally
 * @property {boolean} [growsUp]  the newest content and the input are at its bottom, which must not move
 */

/** @type {Section[]} */
export const SECTIONS = [
  {
    id: 'chats', group: 'work', label: 'shell.chats', icon: 'message-square', tag: 'ac-view-chats', fills: true, growsUp: true,
    load: () => import('../chat/ac-view-chats.js'),
  },
  {
    id: 'modules', group: 'manage', label: 'shell.modules', icon: 'blocks', tag: 'ac-view-modules',
    load: () => import('../modules/ac-view-modules.js'),
  },
  {
    id: 'tools', group: 'manage', label: 'shell.tools', icon: 'wrench', tag: 'ac-view-tools', fills: true,
    load: () => import('../tools/ac-view-tools.js'),
  },
  {
    id: 'skills', group: 'manage', label: 'skills.title', icon: 'sparkles', tag: 'ac-view-skills',
    load: () => import('../skills/ac-view-skills.js'),
  },
  {
    id: 'clients', group: 'manage', label: 'clients.title', icon: 'plug', tag: 'ac-view-clients',
    load: () => import('../clients/ac-view-clients.js'),
  },
  {
    id: 'hosts', group: 'manage', label: 'hosts.title', icon: 'server', tag: 'ac-view-hosts',
    load: () => import('../hosts/ac-view-hosts.js'),
  },
  {
    id: 'activity', group: 'manage', label: 'activity.title', icon: 'activity', tag: 'ac-view-activity', fills: true,
    load: () => import('../activity/ac-view-activity.js'),
  },
  {
    id: 'settings', group: 'manage', label: 'settings.title', icon: 'settings', tag: 'ac-view-settings',
    load: () => import('../settings/ac-view-settings.js'),
  },
];

/** Return the section with this id, the first segment of an address; an empty address is the start page, a new chat. @param {string} [id] */
export function findSection(id) {
  return SECTIONS.find((section) => section.id === (id || 'chats'));
}
