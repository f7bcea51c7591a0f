/* Calls a fuzz target with every file of the folders given: what a fuzzer once found stays found. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"

enum { max_bytes = 1 << 20 };

static void replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		perror(path);
		exit(1);
	}
	uint8_t *data = ax_malloc(max_bytes);
	size_t size = fread(data, 1, max_bytes, file);
	fclose(file);
	/* An exact copy, so that a sanitizer sees a read beyond its end. */
	data = ax_realloc(data, size > 0 ? size : 1);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

static int replay_folder(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort), files = 0;
	if (n < 0)
		perror(folder);
	for (int i = 0; i < n; i++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.') {
			replay_file(path);
			files++;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;
	for (int i = 1; i < argc; i++)
		files += replay_folder(argv[i]);
	printf("%d inputs\n", files);
	return files > 0 ? 0 : 1;
}
