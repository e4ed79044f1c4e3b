package verbena.tools.weak;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The agent of a process in virtual time. Some of our classes make threads of the system: a worker has one, and so
/// has `cp`. Here they make virtual ones, which [OneByOne] runs. They wait for devices and for each other, as the
/// program's threads do. Programs, our classes and the JDK's waits with a time limit ask [VirtualClock] for the time.
public final class VirtualThreadsAgent {
    private static final List<String> WITH_THREADS =
            List.of("verbena/messages/", "verbena/tools/files/", "verbena/tools/Background");
    private static final List<String> WITH_LIMITS =
            List.of("verbena/", "java/util/concurrent/", "java/lang/VirtualThread");
    private static final String OWN = "verbena/tools/weak/";

    private static final ClassDesc THREAD = ClassDesc.of("java.lang.Thread");
    private static final ClassDesc OF_SYSTEM = ClassDesc.of("java.lang.Thread$Builder$OfPlatform");
    private static final ClassDesc VIRTUAL = ClassDesc.of("java.lang.Thread$Builder$OfVirtual");
    private static final ClassDesc SYSTEM = ClassDesc.of("java.lang.System");
    private static final ClassDesc CLOCK = ClassDesc.of("verbena.tools.weak.VirtualClock");
    private static final String NOW = "nanoTime";

    private VirtualThreadsAgent() {}

    /// Begins; the JVM calls this.
    public static void premain(String arguments, Instrumentation by) throws UnmodifiableClassException {
        by.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte @Nullable [] transform(
                            @Nullable ClassLoader loader,
                            @Nullable String name,
                            @Nullable Class<?> known,
                            @Nullable ProtectionDomain domain,
                            byte[] bytes) {
                        return name == null ? null : changed(name, bytes);
                    }
                },
                true);
        for (Class<?> each : by.getAllLoadedClasses()) {
            if (hasLimits(each.getName().replace('.', '/')) && by.isModifiableClass(each)) {
                by.retransformClasses(each);
            }
        }
    }

    /// Returns whether a class may wait until a time. Examples have no package.
    private static boolean hasLimits(String name) {
        return !name.startsWith(OWN) && (name.indexOf('/') < 0 || beginsLikeOne(name, WITH_LIMITS));
    }

    // A stream would need classes of the JDK that the JVM is about to load.
    private static boolean beginsLikeOne(String name, List<String> prefixes) {
        for (String each : prefixes) {
            if (name.startsWith(each)) {
                return true;
            }
        }
        return false;
    }

    /// Returns a class that makes virtual threads in place of the system's, and asks for their time; null when it does
    /// neither.
    private static byte @Nullable [] changed(String name, byte[] bytes) {
        if (!hasLimits(name)) {
            return null;
        }
        ClassFile file = ClassFile.of();
        ClassModel model = file.parse(bytes);
        boolean makesThreads = beginsLikeOne(name, WITH_THREADS);
        for (var each : model.constantPool()) {
            boolean isMeant = (each instanceof ClassEntry entry
                            && makesThreads
                            && entry.asSymbol().equals(OF_SYSTEM))
                    || (each instanceof MethodRefEntry method && isNow(method));
            if (isMeant) {
                return file.transformClass(model, ClassTransform.transformingMethodBodies((code, element) -> {
                    if (element instanceof InvokeInstruction call && isNow(call.method())) {
                        code.invokestatic(CLOCK, NOW, call.typeSymbol());
                    } else if (makesThreads) {
                        addChanged(code, element);
                    } else {
                        code.with(element);
                    }
                }));
            }
        }
        return null;
    }

    private static boolean isNow(MemberRefEntry method) {
        return method.name().equalsString(NOW) && method.owner().asSymbol().equals(SYSTEM);
    }

    private static void addChanged(CodeBuilder code, CodeElement each) {
        if (each instanceof InvokeInstruction call
                && call.typeSymbol().returnType().equals(OF_SYSTEM)) {
            MethodTypeDesc type = call.typeSymbol().changeReturnType(VIRTUAL);
            switch (call.name().stringValue()) {
                case "ofPlatform" -> code.invokestatic(THREAD, "ofVirtual", type);
                case "daemon" -> {} // each virtual thread is one
                default -> code.invokeinterface(VIRTUAL, call.name().stringValue(), type);
            }
        } else if (each instanceof InvokeInstruction call
                && call.owner().asSymbol().equals(OF_SYSTEM)) {
            code.invokeinterface(VIRTUAL, call.name().stringValue(), call.typeSymbol());
        } else {
            code.with(each);
        }
    }
}
