/** Uploads of files as artifacts, with their progress, which `fetch` cannot report for request bodies. */
import {ApiError, client} from './client.js';
import {serverAddress, sessionHeaders} from './session.js';

/** @typedef {{artifactId: string, name: string, mime: string, bytes: number}} Uploaded */

/**
 * Upload one file.
 * @param {Blob} file
 * @param {string} name
 * @param {(share: number) => void} onProgress  the share that was sent, up to 1
 * @param {AbortSignal} signal  cancels the upload
 * @returns {Promise<Uploaded>}
 */
export function upload(file, name, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = () => reject(refusalOf(request));
    signal.addEventListener('abort', () => request.abort());
    request.upload.addEventListener('progress', ({loaded, total}) => onProgress(total ? loaded / total : 0));
    request.addEventListener('load', () => (request.status < 400 ? resolve(request.response) : fail()));
    for (const end of ['error', 'abort', 'timeout']) request.addEventListener(end, fail);
    request.open('POST', serverAddress(`/api/artifacts?name=${encodeURIComponent(name)}`));
    request.responseType = 'json';
    for (const [header, value] of Object.entries(sessionHeaders())) request.setRequestHeader(header, value);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.send(file);
  });
}

/** @param {XMLHttpRequest} request */
function refusalOf({status, response}) {
  if (status === 0) return new ApiError({type: 'unreachable', retryable: true});
  if (status === 401) client.events.refuse();
  return new ApiError(response?.error ?? {}, status);
}
