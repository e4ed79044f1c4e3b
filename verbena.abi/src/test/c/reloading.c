/* A program that loads our libraries, opens a device, and unloads them while it is open, again and again. Linked with neither. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    for (int round = 0; round < 3; round++) {
        void *verbs = dlopen("libibverbs.so.1", RTLD_NOW), *cm = dlopen("librdmacm.so.1", RTLD_NOW);
        if (!verbs || !cm) {
            puts(dlerror());
            return 1;
        }
        void **(*list)(int *) = (void **(*)(int *)) dlsym(verbs, "ibv_get_device_list");
        void *(*open)(void *) = (void *(*)(void *)) dlsym(verbs, "ibv_open_device");
        void *(*alloc)(void *) = (void *(*)(void *)) dlsym(verbs, "ibv_alloc_pd");
        void *(*channel)(void) = (void *(*)(void)) dlsym(cm, "rdma_create_event_channel");
        void **devices = list(NULL), *context = devices ? open(devices[0]) : NULL;
        if (!context || !alloc(context) || !channel()) {
            printf("round %d: no device\n", round);
            return 1;
        }
        dlclose(cm);
        dlclose(verbs);
    }
    return 0;
}
