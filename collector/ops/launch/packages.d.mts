/** Packs the pixel and the client into a directory, from dist/. Returns the names of the files. */
export declare function packAll(directory: string): string[]
