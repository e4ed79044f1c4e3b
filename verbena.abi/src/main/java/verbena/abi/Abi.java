package verbena.abi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import verbena.foreign.GuardedAccess;

/// Where C and Java meet. `start.c` starts the JVM and calls [#start]: each call that C makes (`calls.h`) is bound
/// to the static method of the same name, `alloc_pd` to `allocPd`, in one of [#CALLS]. Its arguments are pointers
/// and integers, all as `long`; it answers a pointer or a number, or a negative errno. What it throws becomes an
/// errno ([Errno]); nothing of Java's gets into the program.
final class Abi {
    private static final List<Class<?>> CALLS = List.of(
            DeviceCalls.class,
            MemoryCalls.class,
            CompletionCalls.class,
            QueueCalls.class,
            AddressCalls.class,
            SendCalls.class,
            RequestCalls.class,
            TextCalls.class,
            CmCalls.class,
            ConnectCalls.class,
            EndpointCalls.class,
            RsocketCalls.class);

    private static final Map<String, Long> OPERATIONS = new HashMap<>();

    private Abi() {}

    /// By C, once.
    ///
    /// @param operations address of a table of C functions for the tables of operations of contexts, queue pairs
    ///     and completion queues
    static void start(long operations, long operationNames, int operationCount) {
        Threads.begin();
        MemorySegment functions = Native.at(operations, operationCount * ADDRESS.byteSize());
        for (int i = 0; i < operationCount; i++) {
            OPERATIONS.put(name(operationNames, i), functions.getAtIndex(JAVA_LONG, i));
        }
        GuardedAccess.begin(operation("guarded_copy"), operation("guarded_atomic"));
    }

    /// By C, when a call is made for the first time: the function that C is to call from now on. Two threads may
    /// come at the same time, and get one each.
    ///
    /// @param name address of the call's name
    static long link(long name) {
        String call = Native.string(name);
        Method method = Methods.BY_NAME.get(camelCase(call));
        if (method == null) {
            throw new IllegalStateException("no method is called " + call);
        }
        return upcall(method).address();
    }

    /// All that C may call.
    private static final class Methods {
        static final Map<String, Method> BY_NAME = new HashMap<>();

        static {
            for (Class<?> type : CALLS) {
                for (Method method : type.getDeclaredMethods()) {
                    if (Modifier.isStatic(method.getModifiers()) && !Modifier.isPrivate(method.getModifiers())) {
                        BY_NAME.put(method.getName(), method);
                    }
                }
            }
        }
    }

    /// Address of the C function of this name; 0 for one that C does not have.
    static long operation(String name) {
        return OPERATIONS.getOrDefault(name, 0L);
    }

    private static String name(long names, int index) {
        long address = Native.at(names, (index + 1) * ADDRESS.byteSize()).getAtIndex(JAVA_LONG, index);
        return Native.string(address);
    }

    private static String camelCase(String name) {
        var words = new StringBuilder();
        for (String word : name.split("_", -1)) {
            words.append(words.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return words.toString();
    }

    @SuppressWarnings("restricted") // the room's reason for being
    private static MemorySegment upcall(Method method) {
        try {
            MethodHandle call = MethodHandles.lookup().unreflect(method);
            MethodHandle onThrown = MethodHandles.lookup()
                    .findStatic(Errno.class, "of", MethodType.methodType(long.class, Throwable.class));
            var guarded = MethodHandles.catchException(
                    call,
                    Throwable.class,
                    MethodHandles.dropArguments(onThrown, 1, call.type().parameterList()));
            var arguments = new ValueLayout[method.getParameterCount()];
            Arrays.fill(arguments, JAVA_LONG);
            return Linker.nativeLinker()
                    .upcallStub(guarded, FunctionDescriptor.of(JAVA_LONG, arguments), Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(method.toString(), e);
        }
    }
}
