package verbena.junit;

import java.io.IOException;
import java.lang.reflect.Parameter;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.platform.commons.support.AnnotationSupport;
import verbena.verbs.Context;

/// The extension behind [RdmaTest]. It has no state of its own: the store of a test's context has its [TestScene].
final class RdmaExtension implements ParameterResolver, TestExecutionExceptionHandler, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(RdmaExtension.class);

    RdmaExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
        Class<?> type = parameter.getParameter().getType();
        return test.getTestMethod().isPresent()
                && (type == ConnectedEnds.class
                        || type == Context.class
                        || (type == TestPeer.class && parameter.isAnnotated(RunsIn.class)));
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
        TestScene scene = scene(test);
        Parameter wanted = parameter.getParameter();
        try {
            if (wanted.getType() == Context.class) {
                return scene.open(wanted.getName());
            }
            return wanted.getType() == ConnectedEnds.class
                    ? scene.connect()
                    : scene.run(parameter.findAnnotation(RunsIn.class).orElseThrow());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ParameterResolutionException(wanted + ": interrupted", e);
        } catch (IOException e) {
            throw new ParameterResolutionException(wanted + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void handleTestExecutionException(ExtensionContext test, Throwable failure) throws Throwable {
        String kept = scene(test).kept();
        if (!kept.isEmpty()) {
            failure.addSuppressed(new Kept(kept)); // where every report of a test shows it
        }
        throw failure;
    }

    @Override
    public void afterEach(ExtensionContext test) throws IOException {
        scene(test).end(test.getExecutionException().isPresent());
    }

    private static TestScene scene(ExtensionContext test) {
        ExtensionContext.Store store = test.getStore(NAMESPACE);
        TestScene its = store.get(TestScene.class, TestScene.class);
        if (its == null) {
            its = new TestScene(settings(test), name(test));
            store.put(TestScene.class, its);
        }
        return its;
    }

    private static RdmaTest settings(ExtensionContext test) {
        Optional<RdmaTest> own = AnnotationSupport.findAnnotation(test.getElement(), RdmaTest.class);
        return own.or(() -> AnnotationSupport.findAnnotation(
                        test.getRequiredTestClass(), RdmaTest.class, test.getEnclosingTestClasses()))
                .orElseThrow();
    }

    private static String name(ExtensionContext test) {
        return test.getRequiredTestClass().getName() + "."
                + test.getRequiredTestMethod().getName();
    }

    /// A note below the failure of a test: what it leaves.
    @SuppressWarnings("OverrideThrowableToString") // no name of a class in front of the note
    private static final class Kept extends Exception {
        private static final long serialVersionUID = 1;

        private final String text;

        private Kept(String text) {
            super(text, null, false, false);
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
