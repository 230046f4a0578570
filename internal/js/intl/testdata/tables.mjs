// Writes the tables that the package embeds: node tables.mjs DIR, with node 20 and its full ICU. The names of the time
// zones come from the standard input, one a line.
import { readFileSync, writeFileSync } from 'node:fs'

const dir = process.argv[2]
const write = (name, lines) => writeFileSync(`${dir}/${name}`, lines.join('\n') + '\n')
const part = (f, v, type) => f.formatToParts(v).find(p => p.type === type)?.value ?? ''

// code, digits, symbol, narrow symbol, name of one, name of others
write('currencies.txt', Intl.supportedValuesOf('currency').map(currency => {
  const format = (currencyDisplay, v) => part(new Intl.NumberFormat('en-US', { style: 'currency', currency, currencyDisplay, maximumFractionDigits: 0 }), v, 'currency')
  const digits = new Intl.NumberFormat('en-US', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits
  return [currency, digits, format('symbol', 2), format('narrowSymbol', 2), format('name', 1), format('name', 2)].join('\t')
}))

// unit, then the patterns of one and of others in short, narrow and long
const units = Intl.supportedValuesOf('unit')
const patterns = unit => ['short', 'narrow', 'long'].flatMap(unitDisplay =>
  [1, 2].map(v => new Intl.NumberFormat('en-US', { style: 'unit', unit, unitDisplay }).format(v).replace(String(v), '{0}')))
const simple = Object.fromEntries(units.map(unit => [unit, patterns(unit)]))
const lines = units.map(unit => [unit, ...simple[unit]].join('\t'))
// What stands behind a unit for one that it is divided by; compounds with words of their own are listed whole.
const per = Object.fromEntries(units.map(unit => [unit, patterns(`byte-per-${unit}`).map((p, i) => p.slice(simple.byte[i].length))]))
for (const unit of units) lines.push(['per-' + unit, ...per[unit]].join('\t'))
for (const above of units) for (const below of units) {
  const real = patterns(`${above}-per-${below}`)
  if (real.some((p, i) => p !== simple[above][i] + per[below][i])) lines.push([`${above}-per-${below}`, ...real].join('\t'))
}
write('units.txt', lines)

// zone, the canonical name if it is another, then long and short names in January and in July. Of a zone that has no summer
// time any more, the second names are those of the last that it had.
const zones = readFileSync(0, 'utf8').trim().split('\n')
write('zones.txt', zones.flatMap(timeZone => {
  let canonical
  try {
    canonical = new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone
  } catch {
    return []
  }
  const names = ['long', 'short'].flatMap(timeZoneName => {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName })
    const name = (year, month) => part(format, Date.UTC(year, month, 15), 'timeZoneName')
    const [winter, july] = [name(2024, 0), name(2024, 6)]
    let summer = july
    for (let year = 2023; summer === winter && year > 1980; year--) {
      summer = [name(year, 0), name(year, 6)].find(n => /Summer|Daylight|[A-Z]DT$/.test(n)) ?? summer
    }
    return [winter, summer]
  })
  return [[timeZone, canonical === timeZone ? '' : canonical, ...names].join('\t')]
}))

// locale, decimal sign, group sign, digits from which on there are groups, size of the groups after the first; then what
// stands between number and currency, after or before; what stands before the percent sign; the symbols of currencies that
// are others than in en-US
write('locales.txt', ['en-GB', 'en-IN', 'en-AU', 'en-CA', 'de', 'de-DE', 'fr', 'fr-FR', 'es', 'es-ES', 'it', 'it-IT', 'pt', 'pt-BR', 'ja', 'ja-JP'].map(locale => {
  const parts = new Intl.NumberFormat(locale).formatToParts(12345678.5)
  const least = [1234, 12345].find(n => new Intl.NumberFormat(locale).formatToParts(n).some(p => p.type === 'group'))
  const euro = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' }).formatToParts(1)
  const percent = new Intl.NumberFormat(locale, { style: 'percent' }).formatToParts(1)
  const symbols = Intl.supportedValuesOf('currency').flatMap(currency => ['symbol', 'narrowSymbol'].flatMap(currencyDisplay => {
    const [here, there] = [locale, 'en-US'].map(l => part(new Intl.NumberFormat(l, { style: 'currency', currency, currencyDisplay }), 1, 'currency'))
    return here === there ? [] : [`${currency}${currencyDisplay === 'symbol' ? '' : '/n'}=${here}`]
  }))
  return [
    locale, parts.find(p => p.type === 'decimal').value, parts.find(p => p.type === 'group').value, String(least).length,
    parts.filter(p => p.type === 'integer')[1].value.length, euro[0].type === 'currency' ? 'before' : 'after',
    euro.some(p => p.value === '€') && euro.find(p => p.type === 'literal')?.value || '', percent.find(p => p.type === 'literal')?.value ?? '', symbols.join(' '),
  ].join('\t')
}))
