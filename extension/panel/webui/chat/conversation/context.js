/** What goes with a message beside what the person says: the page beside the panel. */
export {contextOf} from '../../../panel/tab/page-context.js';
