'use strict';
const crypto = require('crypto');
module.exports = { isKeyObject: (value) => value instanceof crypto.KeyObject, isCryptoKey: () => false, ...crypto };
