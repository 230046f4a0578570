// Package intl writes numbers, dates and lists, and orders texts, as ECMA-402 has it for en-US.
//
// It knows no JavaScript engine. Its tables are facts of CLDR, written by testdata/tables.mjs and testdata/zones.go, and
// are read when they are first needed. It opens no file: a worker has none.
package intl
