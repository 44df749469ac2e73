import { formats } from './source.ts'
import { targets } from './targets.ts'

/** What the commands take, for their help. */
export const loadUsage = `footfall identity load FILE…     files, or standard input (-)
    --into ${Object.keys(targets).join('|')}   what the rows are, default profiles
    --format ${formats.join('|')}    what the files are, where their names do not tell; gzip and Zstandard are seen
    --map column=field,…           which columns give which fields, where they are not named alike
    --ignore-unknown               leave out columns that no field is named like
    --organization ID              links that only this organization may see; default: the operator’s graph
    --replace                      what is loaded becomes all there is; default: rows with the same key replace those before
    --rejected FILE                where rows go that cannot be taken, and why; default FILE.rejected.ndjson`

export const generateUsage = `footfall identity generate --out DIR
    --profiles N --cookies N --companies N --seed N    default 10000, 20000, 500, 1`
