/** Packages that only local stores need. */
export declare const ofLocalStores: string[]

/** Lays a package out in an empty folder, from dist/. */
export declare function layOut(
  name: 'footfall-server' | 'footfall-pixel' | 'footfall-client',
  folder: string,
): void

/** Packs all packages into a directory, from dist/. Returns the names of the files. */
export declare function packAll(directory: string): string[]
