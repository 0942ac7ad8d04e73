'use strict';
module.exports = { isKeyObject: () => false, isCryptoKey: () => false, ...require('crypto') };
