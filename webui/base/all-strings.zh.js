/** All texts of the page in Chinese, by feature folder. */
import {activity} from '../activity/strings.zh.js';
import {approval} from '../approval/strings.zh.js';
import {chat} from '../chat/strings.zh.js';
import {clients} from '../clients/strings.zh.js';
import {form} from '../form/strings.zh.js';
import {hosts} from '../hosts/strings.zh.js';
import {models} from '../models/strings.zh.js';
import {modulePages} from '../module-pages/strings.zh.js';
import {modules} from '../modules/strings.zh.js';
import {questions} from '../questions/strings.zh.js';
import {queue} from '../queue/strings.zh.js';
import {requirements} from '../requirements/strings.zh.js';
import {results} from '../results/strings.zh.js';
import {settings} from '../settings/strings.zh.js';
import {shell} from '../shell/strings.zh.js';
import {skills} from '../skills/strings.zh.js';
import {tabs} from '../tabs/strings.zh.js';
import {tools} from '../tools/strings.zh.js';
import {ui} from '../ui/strings.zh.js';
import {views} from '../views/strings.zh.js';

/** @type {Record<string, Record<string, import('./all-strings.js').Text>>} */
export const chinese = {
  activity, approval, chat, clients, form, hosts, 'module-pages': modulePages, models, modules, questions, queue, requirements, results, settings, shell, skills, tabs, tools, ui, views,
};
