'use strict';
module.exports = { ...require('crypto').tideboxParts };
