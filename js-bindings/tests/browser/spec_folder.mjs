// Replaces `../spec_folder.mjs` in a page, which gets the cases from the server.

const response = await fetch("/cases.json");

export const { every, specFiles } = await response.json();
