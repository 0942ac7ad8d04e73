// In the place of the file of this name one folder up: a page asks the server.

const response = await fetch("/cases.json");

export const { every, specFiles } = await response.json();
