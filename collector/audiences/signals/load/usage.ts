import { formats } from '../../../identity/load/source.ts'
import { targets } from './targets.ts'

/** What the command takes, for its help. */
export const loadUsage = `footfall intent load FILE…     files, or standard input (-)
    --into ${Object.keys(targets).join('|')}   what the rows are, default signals
    --format ${formats.join('|')}    what the files are, where their names do not tell; gzip and Zstandard are seen
    --map column=field,…           which columns give which fields, where they are not named alike
    --ignore-unknown               leave out columns that no field is named like
    --replace                      what is loaded becomes all there is; default: rows with the same key replace those before
    --rejected FILE                where rows go that cannot be taken, and why; default FILE.rejected.ndjson
Fields of signals: ${targets.signals!.fields.join(', ')}. Of topics: ${targets.topics!.fields.join(', ')}.`
