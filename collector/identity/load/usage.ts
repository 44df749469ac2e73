import { formats } from './source.ts'
import { targets } from './targets.ts'

export const loadUsage = `footfall-server identity load FILE…     files, or standard input (-)
    --into ${Object.keys(targets).join('|')}   type of the rows, default profiles
    --format ${formats.join('|')}    format of the files, if their names do not show it; gzip and Zstandard are detected
    --map column=field,…           maps columns to fields with other names
    --ignore-unknown               skips columns without a field of the same name
    --organization ID              links for this organization only; default: the operator’s graph
    --replace                      deletes everything that was loaded before; default: rows replace earlier rows with the same key
    --rejected FILE                file for rejected rows and the reasons; default FILE.rejected.ndjson`

export const generateUsage = `footfall-server identity generate --out DIR
    --profiles N --cookies N --companies N --seed N    default 10000, 20000, 500, 1`
