package verbena.abi.entry;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.List;
import verbena.abi.EntryPoints;
import verbena.abi.Errno;
import verbena.abi.Native;
import verbena.abi.Operations;
import verbena.abi.Threads;
import verbena.abi.cm.CmEntryPoints;
import verbena.abi.rsocket.RsocketEntryPoints;
import verbena.abi.verbs.VerbsEntryPoints;
import verbena.foreign.GuardedAccess;

/// The border between C and Java. `start.c` starts the JVM and calls [#start]. Each call that C makes (`calls.h`) is
/// bound to the static method of the same name, `alloc_pd` to `allocPd`, in a class of [Calls#ALL]. Its arguments
/// are pointers and integers, all as `long`, and it answers a pointer, a number or a negative errno. An exception
/// becomes an errno ([Errno]), and none reaches the program.
final class Abi {
    /// The calls that C may make; read when it makes the first call.
    private static final class Calls {
        static final List<EntryPoints> ALL = List.of(
                VerbsEntryPoints.ALL,
                CmEntryPoints.ALL,
                RsocketEntryPoints.ALL,
                new EntryPoints(MethodHandles.lookup(), ProcessCalls.class));
    }

    private Abi() {}

    /// Begins. Called by C, once.
    ///
    /// @param operations address of a table of C functions for the tables of operations of contexts, queue pairs
    ///     and completion queues
    static void start(long operations, long operationNames, int operationCount) {
        Threads.begin();
        Operations.begin(operations, operationNames, operationCount);
        GuardedAccess.begin(
                Operations.address("guarded_copy"),
                Operations.address("guarded_atomic"),
                Operations.address("is_jvms"));
        ProgramPlaces.begin();
    }

    /// Returns the function that C is to call from now on. Called by C, when a call is made for the first time. Two
    /// threads may come at the same time, and get one each.
    ///
    /// @param name address of the call's name
    static long link(long name) {
        String call = Native.string(name);
        String method = camelCase(call);
        try {
            for (EntryPoints each : Calls.ALL) {
                MethodHandle found = each.find(method);
                if (found != null) {
                    return upcall(found).address();
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(call, e);
        }
        throw new IllegalStateException("no method is called " + call);
    }

    private static String camelCase(String name) {
        var words = new StringBuilder();
        for (String word : name.split("_", -1)) {
            words.append(words.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return words.toString();
    }

    @SuppressWarnings("restricted") // the room's reason for being
    private static MemorySegment upcall(MethodHandle call) throws ReflectiveOperationException {
        MethodHandle onThrown = MethodHandles.lookup()
                .findStatic(Errno.class, "of", MethodType.methodType(long.class, Throwable.class));
        var guarded = MethodHandles.catchException(
                call,
                Throwable.class,
                MethodHandles.dropArguments(onThrown, 1, call.type().parameterList()));
        var arguments = new ValueLayout[call.type().parameterCount()];
        Arrays.fill(arguments, JAVA_LONG);
        return Linker.nativeLinker().upcallStub(guarded, FunctionDescriptor.of(JAVA_LONG, arguments), Arena.global());
    }
}
