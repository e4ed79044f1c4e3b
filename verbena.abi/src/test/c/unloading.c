/* A program that unloads a library, whose destructor gives back what the library has of ours. Ends with status 0 when the call
 * returns. Argument: the library. */
#include <dlfcn.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
    (void) argc;
    alarm(30); /* ends a program that hangs */
    void *library = dlopen(argv[1], RTLD_NOW);
    EXPECT(library != NULL);
    int (*begin)(void) = library == NULL ? NULL : (int (*)(void)) dlsym(library, "begin");
    EXPECT(begin != NULL && begin() == 0);
    EXPECT(library != NULL && dlclose(library) == 0);
    return failures != 0;
}
