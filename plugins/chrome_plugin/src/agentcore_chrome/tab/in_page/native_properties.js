// A field shadows its form's property of the same name (`<input name=children>`), and an image or a form that of its
// document. So anything that may be a form or a document is read through `its(node)`, which returns the interfaces' own properties.

const isHidden = node => node instanceof HTMLFormElement || node instanceof Document;
const own = {
  get(node, name) {
    const value = Reflect.get(Object.getPrototypeOf(node), name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  },
};
const its = node => (isHidden(node) ? new Proxy(node, own) : node);
