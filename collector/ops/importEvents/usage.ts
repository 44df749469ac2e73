import { formats } from '../../identity/load/source.ts'

/** The help text of the command's options. */
export const importUsage = `footfall-server events import FILE…    files, or standard input (-)
    --pixel ID                     the pixel of the events; rows may name another pixel of its project
    --format ${formats.join('|')}    the format, if the names of the files do not show it; gzip and Zstandard are detected
    --map column=field,…           columns with other names than the fields
    --from-project ID              the files are an export of this other project of Footfall
    --ignore-unknown               ignore columns that are no fields
    --dry-run                      check and count the rows, and store nothing
    --skipped FILE                 report of skipped rows with line and reason; default FILE.skipped.ndjson`

/** The help text of the options of `footfall-server import PRODUCT`. */
export const productUsage = `footfall-server import ga4|matomo|umami FILE…    the files of the product's export
    --pixel ID          the pixel of the events
    --dry-run           show the mapping, check and count the rows, and store nothing
    --site ID           the site's id in the product: website_id of Umami, idSite of Matomo
    --host NAME         the host name of events and visits without an address
    --format ${formats.join('|')}    the format, if the names of the files do not show it
    --skipped FILE      report of skipped rows with line and reason; default FILE.skipped.ndjson`

/** The help text of the options of `footfall-server import plausible`. */
export const historyUsage = `footfall-server import plausible FILE…    the CSV files of Plausible's export, such as imported_visitors_20230101_20231231.csv
    --project ID        the project of the figures
    --dry-run           show the mapping, check and count the rows, and store nothing
    --skipped FILE      report of skipped rows with line and reason; default FILE.skipped.ndjson`
