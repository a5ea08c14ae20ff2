/** All texts of the page, by area and language; an area is a file that exports `{en: {…}, zh: {…}}` with the same keys. */
import {activity} from './activity.js';
import {approval} from './approval.js';
import {chat} from './chat.js';
import {consoleTexts} from './console.js';
import {form} from './form.js';
import {live} from './live.js';
import {modules} from './modules.js';
import {result} from './result.js';
import {settings} from './settings.js';
import {shell} from './shell.js';
import {tabs} from './tabs.js';

/** @type {Record<string, Record<import('../i18n.js').Locale, Record<string, import('../i18n.js').Text>>>} */
export const strings = {shell, tabs, chat, modules, activity, approval, live, settings, form, result, console: consoleTexts};
