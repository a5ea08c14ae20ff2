/** All texts of the page, by area and language; an area is a file that exports `{en: {…}, zh: {…}}` with the same keys. */
import {activity} from '../activity/strings.js';
import {approval} from '../approval/strings.js';
import {chat} from '../chat/strings.js';
import {consoleTexts} from '../tools/strings.js';
import {form} from '../form/strings.js';
import {live} from '../module-pages/strings.js';
import {modules} from '../modules/strings.js';
import {result} from '../results/strings.js';
import {settings} from '../settings/strings.js';
import {shell} from '../shell/strings.js';
import {tabs} from '../tabs/strings.js';

/** @type {Record<string, Record<import('./i18n.js').Locale, Record<string, import('./i18n.js').Text>>>} */
export const strings = {shell, tabs, chat, modules, activity, approval, live, settings, form, result, console: consoleTexts};
