'use strict';
// `Intl` in small: English only, in the sandbox's time zone.
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const locale = 'en-US';
const supportedLocalesOf = () => [locale];
const extends_ = /[\u0300-\u036f\u200d\ufe00-\ufe0f\u20d0-\u20ff]|\p{M}|\p{Emoji_Modifier}/u;
/** Splits a text into characters as people see them: marks and joined signs stay with what they follow. */
function graphemes(text) {
  const parts = [];
  let regional = false;
  for (const character of text) {
    const last = parts.at(-1);
    const isRegional = /\p{Regional_Indicator}/u.test(character);
    if (last !== undefined && (extends_.test(character) || last.endsWith('\u200d') || (character === '\n' && last === '\r') || (isRegional && regional))) {
      parts[parts.length - 1] += character;
      regional = false;
    } else {
      parts.push(character);
      regional = isRegional;
    }
  }
  return parts;
}
class Segmenter {
  #granularity;
  constructor(locales, options = {}) { this.#granularity = options.granularity ?? 'grapheme'; }
  segment(input) {
    const text = `${input}`;
    const words = this.#granularity === 'word';
    const parts = words ? text.match(/[\p{L}\p{N}_'’]+|\s+|./gsu) ?? [] : this.#granularity === 'sentence' ? text.match(/[^.!?]+[.!?]*\s*|[.!?]+\s*/g) ?? [] : graphemes(text);
    return {
      * [Symbol.iterator]() {
        let index = 0;
        for (const segment of parts) {
          yield words ? { segment, index, input: text, isWordLike: /[\p{L}\p{N}]/u.test(segment) } : { segment, index, input: text };
          index += segment.length;
        }
      },
      containing(at = 0) { for (const part of this) if (at < part.index + part.segment.length) return part; return undefined; },
    };
  }
  resolvedOptions() { return { locale, granularity: this.#granularity }; }
  static supportedLocalesOf = supportedLocalesOf;
}
const keyOf = (text, sensitivity) => {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '');
  return sensitivity === 'base' ? plain.toLowerCase() : plain;
};
class Collator {
  #options;
  constructor(locales, options = {}) { this.#options = options; this.compare = (one, other) => this.#compare(`${one}`, `${other}`); }
  #compare(one, other) {
    const { numeric, sensitivity = 'variant' } = this.#options;
    const parts = (text) => (numeric ? keyOf(text, 'base').split(/(\d+)/) : [keyOf(text, 'base')]);
    const [first, second] = [parts(one), parts(other)];
    for (let at = 0; at < Math.max(first.length, second.length); at++) {
      const [a = '', b = ''] = [first[at], second[at]];
      if (numeric && at % 2 === 1 && Number(a) !== Number(b)) return Number(a) < Number(b) ? -1 : 1;
      if (a !== b) return order(a) < order(b) ? -1 : 1;
    }
    if (sensitivity === 'base') return 0;
    const accents = [one, other].map((text) => text.normalize('NFD').toLowerCase());
    if (accents[0] !== accents[1]) return accents[0] < accents[1] ? -1 : 1;
    if (sensitivity === 'accent' || one === other) return 0;
    // Small letters come first.
    return one > other ? -1 : 1;
  }
  resolvedOptions() { return { locale, usage: 'sort', sensitivity: 'variant', ignorePunctuation: false, collation: 'default', numeric: false, caseFirst: 'false', ...this.#options }; }
  static supportedLocalesOf = supportedLocalesOf;
}
/** Punctuation comes before digits, and those before letters. */
const order = (text) => text.replace(/[^\p{L}\p{N}]/gu, (sign) => `\u0001${sign}`);
class NumberFormat {
  #options;
  constructor(locales, options = {}) { this.#options = options; this.format = (number) => this.#format(number); }
  #format(number) {
    const { style = 'decimal', currency, useGrouping = true, notation } = this.#options;
    let value = typeof number === 'bigint' ? number : Number(number);
    if (Number.isNaN(value)) return 'NaN';
    const percent = style === 'percent';
    if (percent) value = Number(value) * 100;
    const places = style === 'currency' ? 2 : percent ? 0 : undefined;
    const most = this.#options.maximumFractionDigits ?? Math.max(this.#options.minimumFractionDigits ?? 0, places ?? 3);
    const least = this.#options.minimumFractionDigits ?? Math.min(places ?? 0, most);
    let suffix = percent ? '%' : '';
    if (notation === 'compact') {
      const step = Math.abs(Number(value)) >= 1e9 ? [1e9, 'B'] : Math.abs(Number(value)) >= 1e6 ? [1e6, 'M'] : Math.abs(Number(value)) >= 1e3 ? [1e3, 'K'] : [1, ''];
      const small = Number(value) / step[0];
      return `${Math.abs(small) < 100 && step[0] > 1 ? String(Math.round(small * 10) / 10) : Math.round(small)}${step[1]}`;
    }
    const negative = value < 0 || Object.is(value, -0);
    const absolute = negative ? -value : value;
    if (absolute === Infinity) return `${negative ? '-' : ''}∞${suffix}`;
    let [whole, part = ''] = typeof absolute === 'bigint' ? [String(absolute)] : absolute.toFixed(Math.min(most, 100)).split('.');
    part = part.slice(0, least) + part.slice(least).replace(/0+$/, '');
    whole = whole.padStart(this.#options.minimumIntegerDigits ?? 1, '0');
    if (useGrouping !== false) whole = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
    const sign = { USD: '$', EUR: '€', GBP: '£', JPY: '¥' }[currency] ?? (currency ? `${currency} ` : '');
    return `${negative ? '-' : ''}${style === 'currency' ? sign : ''}${whole}${part ? `.${part}` : ''}${suffix}`;
  }
  formatToParts(number) { return [{ type: 'literal', value: this.format(number) }]; }
  resolvedOptions() { return { locale, numberingSystem: 'latn', style: 'decimal', ...this.#options }; }
  static supportedLocalesOf = supportedLocalesOf;
}
const two = (number) => String(number).padStart(2, '0');
class DateTimeFormat {
  #options;
  constructor(locales, options = {}) { this.#options = options; this.format = (date) => this.#format(date); }
  #format(given) {
    const date = given === undefined ? new Date() : new Date(given);
    if (Number.isNaN(date.getTime())) throw new RangeError('Invalid time value');
    const options = { ...this.#options };
    const utc = options.timeZone === 'UTC' || options.timeZone === 'GMT';
    const get = (name) => (utc ? date[`getUTC${name}`]() : date[`get${name}`]());
    if (options.dateStyle) Object.assign(options, { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' } }[options.dateStyle]);
    if (options.timeStyle) Object.assign(options, { hour: 'numeric', minute: '2-digit' }, options.timeStyle === 'short' ? {} : { second: '2-digit' });
    const any = ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second'].some((name) => options[name] !== undefined);
    if (!any) Object.assign(options, { year: 'numeric', month: 'numeric', day: 'numeric' });
    const parts = [];
    const year = options.year === undefined ? undefined : options.year === '2-digit' ? two(get('FullYear') % 100) : String(get('FullYear'));
    const day = options.day === undefined ? undefined : options.day === '2-digit' ? two(get('Date')) : String(get('Date'));
    if (options.month === 'long' || options.month === 'short') {
      const month = options.month === 'long' ? MONTHS[get('Month')] : MONTHS[get('Month')].slice(0, 3);
      parts.push([month, day].filter((one) => one !== undefined).join(' ') + (year === undefined ? '' : `${day === undefined ? ' ' : ', '}${year}`));
    } else if (options.month !== undefined || day !== undefined || year !== undefined) {
      const month = options.month === undefined ? undefined : options.month === '2-digit' ? two(get('Month') + 1) : String(get('Month') + 1);
      parts.push([month, day, year].filter((one) => one !== undefined).join('/'));
    }
    if (options.weekday !== undefined) parts.unshift(options.weekday === 'long' ? DAYS[get('Day')] : DAYS[get('Day')].slice(0, 3));
    if (options.hour !== undefined || options.minute !== undefined || options.second !== undefined) {
      const full = options.hour12 === false || options.hourCycle === 'h23';
      const hours = get('Hours');
      const shown = full ? two(hours) : options.hour === '2-digit' ? two(hours % 12 || 12) : String(hours % 12 || 12);
      const clock = [options.hour === undefined ? undefined : shown, options.minute === undefined ? undefined : two(get('Minutes')), options.second === undefined ? undefined : two(get('Seconds'))].filter((one) => one !== undefined).join(':');
      parts.push(clock + (full || options.hour === undefined ? '' : ` ${hours < 12 ? 'AM' : 'PM'}`));
    }
    let text = parts.join(', ');
    if (options.timeZoneName) text += ' UTC';
    return text;
  }
  formatToParts(date) {
    return this.format(date).split(/(\d+|[A-Za-z]+)/).filter(Boolean).map((value) => ({ type: 'literal', value }));
  }
  resolvedOptions() { return { locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: this.#options.timeZone ?? 'UTC', ...this.#options }; }
  static supportedLocalesOf = supportedLocalesOf;
}
class PluralRules {
  #ordinal;
  constructor(locales, options = {}) { this.#ordinal = options.type === 'ordinal'; }
  select(number) {
    if (!this.#ordinal) return Number(number) === 1 ? 'one' : 'other';
    const [tens, ones] = [number % 100, number % 10];
    if (tens >= 11 && tens <= 13) return 'other';
    return { 1: 'one', 2: 'two', 3: 'few' }[ones] ?? 'other';
  }
  resolvedOptions() { return { locale, type: this.#ordinal ? 'ordinal' : 'cardinal' }; }
  static supportedLocalesOf = supportedLocalesOf;
}
class ListFormat {
  #word;
  constructor(locales, options = {}) { this.#word = options.type === 'disjunction' ? 'or' : 'and'; }
  format(list) {
    const all = [...list];
    if (all.length < 2) return all.join('');
    return all.length === 2 ? all.join(` ${this.#word} `) : `${all.slice(0, -1).join(', ')}, ${this.#word} ${all.at(-1)}`;
  }
  static supportedLocalesOf = supportedLocalesOf;
}
class RelativeTimeFormat {
  format(value, unit) {
    const name = String(unit).replace(/s$/, '');
    const amount = Math.abs(value);
    const text = `${new NumberFormat().format(amount)} ${name}${amount === 1 ? '' : 's'}`;
    return value < 0 || Object.is(value, -0) ? `${text} ago` : `in ${text}`;
  }
  static supportedLocalesOf = supportedLocalesOf;
}
const callable = (Kind) => new Proxy(Kind, { apply: (_, self, values) => new Kind(...values) });
const Intl = { Collator: callable(Collator), DateTimeFormat: callable(DateTimeFormat), ListFormat, NumberFormat: callable(NumberFormat), PluralRules,
  RelativeTimeFormat, Segmenter, getCanonicalLocales: (list) => (list === undefined ? [] : [].concat(list)), supportedValuesOf: () => [] };
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
for (const name of Object.keys(Intl)) Object.defineProperty(Intl, name, { enumerable: false });
Object.defineProperty(globalThis, 'Intl', { value: Intl, writable: true, configurable: true, enumerable: false });
const define = (object, methods) => {
  for (const name of Object.keys(methods)) Object.defineProperty(object, name, { value: methods[name], writable: true, configurable: true, enumerable: false });
};
const date = { year: 'numeric', month: 'numeric', day: 'numeric' };
const time = { hour: 'numeric', minute: '2-digit', second: '2-digit' };
const chosen = (options, ...groups) => {
  const names = ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second', 'dateStyle', 'timeStyle'];
  return names.some((name) => options?.[name] !== undefined) ? options : Object.assign({}, ...groups, options);
};
const shown = (value, options) => (Number.isNaN(value.getTime()) ? 'Invalid Date' : new DateTimeFormat(undefined, options).format(value));
define(Number.prototype, { toLocaleString(locales, options) { return new NumberFormat(locales, options).format(this.valueOf()); } });
define(BigInt.prototype, { toLocaleString(locales, options) { return new NumberFormat(locales, options).format(this.valueOf()); } });
define(String.prototype, { localeCompare(other, locales, options) { return new Collator(locales, options).compare(this, other); } });
define(Date.prototype, {
  toLocaleString(locales, options) { return shown(this, chosen(options, date, time)); },
  toLocaleDateString(locales, options) { return shown(this, chosen(options, date)); },
  toLocaleTimeString(locales, options) { return shown(this, chosen(options, time)); },
});
