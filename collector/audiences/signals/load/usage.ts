import { formats } from '../../../identity/load/source.ts'
import { targets } from './targets.ts'

export const loadUsage = `footfall-server intent load FILE…     files, or standard input (-)
    --into ${Object.keys(targets).join('|')}   type of the rows, default signals
    --format ${formats.join('|')}    format of the files, if their names do not show it; gzip and Zstandard are detected
    --map column=field,…           maps columns to fields with other names
    --ignore-unknown               skips columns without a field of the same name
    --replace                      deletes everything that was loaded before; default: rows replace earlier rows with the same key
    --rejected FILE                file for rejected rows and the reasons; default FILE.rejected.ndjson

Fields of signals: ${targets.signals!.fields.join(', ')}. Of topics: ${targets.topics!.fields.join(', ')}.`
