import { invalidParameter } from './errors.ts'

/** Reads names separated by commas, with or without blanks: `a, b`. Throws 400 for duplicates. */
export function readNames(parameter: string, list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim())
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw invalidParameter(parameter, `names "${repeated}" twice`)
  return names
}
