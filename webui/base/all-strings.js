/** All texts of the page, by feature folder and language; each folder defines its own in `strings.js`. */
import {activity} from '../activity/strings.js';
import {approval} from '../approval/strings.js';
import {chat} from '../chat/strings.js';
import {clients} from '../clients/strings.js';
import {hosts} from '../hosts/strings.js';
import {models} from '../models/strings.js';
import {form} from '../form/strings.js';
import {modulePages} from '../module-pages/strings.js';
import {modules} from '../modules/strings.js';
import {questions} from '../questions/strings.js';
import {queue} from '../queue/strings.js';
import {requirements} from '../requirements/strings.js';
import {results} from '../results/strings.js';
import {settings} from '../settings/strings.js';
import {shell} from '../shell/strings.js';
import {skills} from '../skills/strings.js';
import {tabs} from '../tabs/strings.js';
import {tools} from '../tools/strings.js';
import {ui} from '../ui/strings.js';
import {views} from '../views/strings.js';

/** @typedef {'en' | 'zh'} Locale */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text  a text, or one for each plural category of `n` */

/** @type {Record<string, Record<Locale, Record<string, Text>>>} */
export const strings = {activity, approval, chat, clients, form, hosts, 'module-pages': modulePages, models, modules, questions, queue, requirements, results, settings, shell, skills, tabs, tools, ui, views};
