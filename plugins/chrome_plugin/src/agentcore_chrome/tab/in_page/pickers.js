// Runs in a page's own world before its scripts. The driver answers file fields, and refuses the pickers of the File
// System Access API: a page that calls one hears that the user has cancelled. So the pickers ask by a file field, and hand
// over real handles, of copies in the site's own file system (https://fs.spec.whatwg.org/#sandboxed-filesystem). What is
// written to a file that was picked for saving is downloaded, too.

(() => {
  if (!('showOpenFilePicker' in window)) return;  // there are none at addresses that are not secure
  const { navigator, document, crypto, URL } = window;
  const pick = (name, settings) => new Promise((resolve, reject) => {
    const abort = () => reject(new DOMException(`Failed to execute '${name}' on 'Window': The user aborted a request.`, 'AbortError'));
    const field = Object.assign(document.createElement('input'), { type: 'file', ...settings });
    field.onchange = () => (field.files.length ? resolve([...field.files]) : abort());
    field.oncancel = abort;
    field.click();
  });
  const makeFolder = async () => {
    const root = await navigator.storage.getDirectory();
    return root.getDirectoryHandle(`picked-${crypto.randomUUID()}`, { create: true });
  };
  const copy = async (file, folder) => {
    const handle = await folder.getFileHandle(file.name, { create: true });
    const writable = await handle.createWritable();
    await writable.write(file);
    await writable.close();
    return handle;
  };
  const download = async handle => {
    const link = Object.assign(document.createElement('a'), { download: handle.name });
    link.href = URL.createObjectURL(await handle.getFile());
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  const pickers = {
    async showOpenFilePicker({ multiple = false, types = [] } = {}) {
      const accept = [...types].flatMap(type => Object.entries(type.accept ?? {}).flat(2)).join();
      const files = await pick('showOpenFilePicker', { multiple, accept });
      const folder = await makeFolder();
      return Promise.all(files.map(file => copy(file, folder)));
    },
    async showDirectoryPicker() {
      const files = await pick('showDirectoryPicker', { webkitdirectory: true });
      const root = await makeFolder();
      const [name] = files[0].webkitRelativePath.split('/');
      for (const file of files) {
        let folder = root;
        for (const part of file.webkitRelativePath.split('/').slice(0, -1)) {
          folder = await folder.getDirectoryHandle(part, { create: true });
        }
        await copy(file, folder);
      }
      return root.getDirectoryHandle(name);
    },
    async showSaveFilePicker({ suggestedName = 'untitled' } = {}) {
      const handle = await (await makeFolder()).getFileHandle(suggestedName, { create: true });
      const createWritable = handle.createWritable.bind(handle);
      handle.createWritable = async options => {
        const writable = await createWritable(options);
        const close = writable.close.bind(writable);
        writable.close = async () => { await close(); await download(handle); };
        return writable;
      };
      return handle;
    },
  };
  for (const [name, picker] of Object.entries(pickers)) {
    // without a user's gesture, the browser's own one refuses
    window[name] = new Proxy(window[name], {
      apply: (own, self, given) => (navigator.userActivation.isActive ? picker(...given) : Reflect.apply(own, self, given)),
    });
  }
})();
