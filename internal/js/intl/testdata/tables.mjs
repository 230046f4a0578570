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

// zone, the canonical name, then long and short names in winter and in summer; those that are the same are left out
const zones = readFileSync(0, 'utf8').trim().split('\n')
write('zones.txt', zones.flatMap(timeZone => {
  let canonical
  try {
    canonical = new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone
  } catch {
    return []
  }
  const name = (timeZoneName, month) => part(new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName }), Date.UTC(2024, month, 15), 'timeZoneName')
  const offset = month => name('longOffset', month)
  const [january, july] = [offset(0), offset(6)]
  const winter = january < july ? 0 : 6 // only of zones with summer time is the order of any interest
  const names = ['long', 'short'].flatMap(style => [name(style, 0), name(style, 6)])
  return [[timeZone, canonical === timeZone ? '' : canonical, ...names].join('\t')]
}))
